use super::*;
use proptest::prelude::*;

fn machine(name: &str, gpus: i64, cpu: i64, pods: i64) -> Machine {
    let amounts = [("nvidia.com/gpu", gpus), ("cpu", cpu), ("pods", pods)];
    Machine {
        allocatable: Some(
            amounts
                .iter()
                .map(|(name, amount)| (EcoString::from(*name), Quantity::from_integer(*amount)))
                .collect(),
        ),
        ..Machine::labeled(name.into(), crate::yaml::Map::new())
    }
}

fn shape(gpus: i64, cpu: i64) -> Shape {
    let amounts = [("nvidia.com/gpu", gpus * 1000), ("cpu", cpu * 1000), ("pods", 1000)];
    Shape {
        amounts: amounts
            .iter()
            .filter(|(_, amount)| *amount > 0)
            .map(|(name, amount)| (EcoString::from(*name), (*amount).into()))
            .collect(),
        ..Shape::default()
    }
}

/// The most pods of one shape, by trying every placement.
fn brute(machines: &[(i64, i64, i64)], gpus: i64, cpu: i64) -> i64 {
    fn search(free: &mut Vec<(i64, i64, i64)>, gpus: i64, cpu: i64) -> i64 {
        let mut best = 0;
        for index in 0..free.len() {
            let (g, c, p) = free[index];
            if g >= gpus && c >= cpu && p >= 1 {
                free[index] = (g - gpus, c - cpu, p - 1);
                best = best.max(1 + search(free, gpus, cpu));
                free[index] = (g, c, p);
                // Pods are alike: which machine comes first makes no difference to the most
                // that fit.
                break;
            }
        }
        best
    }
    search(&mut machines.to_vec(), gpus, cpu)
}

proptest! {
    #[test]
    fn one_shape_is_exact(machines in prop::collection::vec((0_i64..9, 0_i64..9, 0_i64..5), 0..5), gpus in 0_i64..4, cpu in 0_i64..4) {
        let nodes: Vec<Machine> = machines.iter().enumerate().map(|(index, (g, c, p))| machine(&format!("n{index}"), *g, *c, *p)).collect();
        let found = Inventory::new(&nodes, []).map(|inventory| inventory.fit(&shape(gpus, cpu), None, 1).replicas);
        prop_assert_eq!(found, (!machines.is_empty()).then(|| brute(&machines, gpus, cpu)));
    }

    #[test]
    fn leaders_and_workers_never_take_more_than_there_is(machines in prop::collection::vec((0_i64..9, 0_i64..9, 0_i64..5), 1..5), gpus in 1_i64..4, workers in 1_i64..3) {
        let nodes: Vec<Machine> = machines.iter().enumerate().map(|(index, (g, c, p))| machine(&format!("n{index}"), *g, *c, *p)).collect();
        let own = shape(gpus, 1);
        let found = Inventory::new(&nodes, []).map_or(0, |inventory| inventory.fit(&own, Some((&own, workers)), 1).replicas);
        prop_assert!(found * (workers + 1) <= brute(&machines, gpus, 1));
    }
}
