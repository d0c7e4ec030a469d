//! placement.jsonl: where the pods of Deployments go, with the controllers that make them.

use super::bench::Bench;
use crate::cluster::schedule::TieBreak;
use crate::cluster::schedule::scheduler_recordings::Row;
use crate::cluster::schedule::scheduler_recordings::placements::{Service, outcome};
use crate::rollout::PodPhase;
use serde_json::{Map, Value};

/// Each Deployment as the table has it.
fn services(bench: &Bench) -> Value {
    let mut all = Map::new();
    for (name, (id, _)) in &bench.workloads {
        let ended = bench.world.ended(*id).unwrap();
        let stay = ended.pods.iter().filter(|(_, phase)| *phase != PodPhase::Terminating);
        let why = ended.waiting.iter().map(|(_, rejection)| {
            rejection.as_ref().map(|rejection| rejection.message.to_string()).unwrap_or_default()
        });
        let service = Service {
            nodes: stay.filter_map(|(pod, _)| bench.node_of(*pod)).collect(),
            waiting: why.collect(),
        };
        all.insert(name.clone(), service.json());
    }
    Value::Object(all)
}

/// What comes out with some ties.
pub(super) fn play(row: &Row, ties: &mut dyn TieBreak) -> Value {
    let mut bench = Bench::new(row, false);
    bench.apply(row, ties);
    let before = (!row.then.is_empty()).then(|| services(&bench));
    for action in &row.then {
        bench.act(action);
        bench.come_to_rest(ties);
    }
    outcome(&services(&bench), before.as_ref(), &bench.evicted())
}
