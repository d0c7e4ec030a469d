//! The number of pods that fit: the same as by placing them one after the other.

use super::*;
use crate::cluster::fleet::{Fleet, Manner, Replica, Workload};
use proptest::prelude::*;
use std::sync::Arc;

proptest! {
    #[test]
    fn capacity_is_what_the_scheduler_places(
        nodes in prop::collection::vec((0_i64..9, 0_i64..9, 0_i64..5), 1..5),
        gpus in 0_i64..4,
        cpu in 1_i64..4,
    ) {
        let machines = nodes.iter().enumerate().map(|(at, (gpus, cpu, pods))| {
            let amounts = [("nvidia.com/gpu", *gpus), ("cpu", *cpu), ("pods", *pods)];
            let amounts = amounts.map(|(name, amount)| {
                (name.into(), crate::quantity::Quantity::from_integer(amount))
            });
            Arc::new(Machine {
                allocatable: Some(amounts.to_vec()),
                ..Machine::labeled(format!("n{at}").into(), crate::yaml::Map::new())
            })
        });
        let requests = [("nvidia.com/gpu", gpus), ("cpu", cpu * 1000)];
        let requests = requests.into_iter().filter(|(_, amount)| *amount > 0);
        let template = PodTemplate {
            spec: Arc::new(crate::cluster::schedule::PodSpec {
                requests: requests.map(|(name, amount)| (name.into(), amount)).collect(),
                ..Default::default()
            }),
            ..PodTemplate::default()
        };
        let fleet = Fleet {
            machines: machines.collect(),
            workloads: vec![Workload {
                templates: vec![Arc::new(template)],
                replicas: vec![Replica { pods: vec![0], ..Replica::default() }; 1],
                ..Workload::default()
            }],
            ..Fleet::default()
        };
        let mut placed = fleet.place(Manner::default());
        let template = placed.template(0, 0);
        let counted = placed.scheduler.capacity(template);
        let mut tried = placed.scheduler.clone();
        tried.forget_waiting();
        prop_assert_eq!(counted, Some(tried.probe(&[template], 100)));
    }
}
