//! Who comes when: variants take turns so that a drift of the device hits all of them alike.
//!
//! A *block* has each variant once. Blocks come in pairs, the second the mirror of the first (ABBA), and pairs start
//! with another variant each (ABBA BAAB); what is left of an odd number is spread as evenly as it can be. A linear
//! drift then moves all variants by the same amount: their mean positions are equal, or differ by one place shared by
//! all runs of a variant where no equal split exists. (D. R. Cox, Planning of Experiments, 1958, ch. 14, on
//! arrangements that are free of a trend.)

use super::plan::{Order, Plan};
use rand::seq::SliceRandom;
use rand_pcg::Pcg64;

/// One run that is asked for, on each device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its number, from 1.
    pub(super) number: usize,
    /// The boot that it is in, from 1.
    pub(super) boot: usize,
    /// Which of the plan's variants.
    pub(super) variant: usize,
    /// Which run of its variant in its boot, from 1.
    pub(super) run: usize,
}

impl Slot {
    /// The label of its variant.
    pub(super) fn variant_name<'a>(&self, plan: &'a Plan) -> &'a str {
        plan.variants.get(self.variant).map_or("", |variant| &variant.name)
    }
}

/// The slots of a plan in the order in which a device makes them.
pub(super) fn slots(plan: &Plan) -> Vec<Slot> {
    let (variants, boots, runs) = (plan.variants.len(), size(plan.boots), size(plan.runs));
    let boots: Vec<Vec<usize>> = match plan.order {
        // All runs of a boot are of one kernel.
        _ if plan.are_kernels() => {
            sequence(plan, variants, boots, 0).into_iter().map(|variant| vec![variant; runs]).collect()
        }
        Order::Random => (0..boots).map(|boot| sequence(plan, variants, runs, boot)).collect(),
        // The order within a boot, with the variants in another role each time.
        Order::Abba => {
            let roles = blocks(variants, boots);
            let within: Vec<usize> = blocks(variants, runs).concat();
            roles
                .iter()
                .map(|role| within.iter().filter_map(|&part| role.get(part).copied()).collect())
                .collect()
        }
    };
    let mut slots = Vec::new();
    for (boot, order) in boots.iter().enumerate() {
        for (at, &variant) in order.iter().enumerate() {
            let run = 1 + order.iter().take(at).filter(|&&earlier| earlier == variant).count();
            slots.push(Slot { number: slots.len() + 1, boot: boot + 1, variant, run });
        }
    }
    slots
}

/// `rounds` times each variant; `stream` tells random sequences of one plan apart.
fn sequence(plan: &Plan, variants: usize, rounds: usize, stream: usize) -> Vec<usize> {
    match plan.order {
        Order::Abba => blocks(variants, rounds).concat(),
        Order::Random => {
            let mut random = Pcg64::new(plan.seed.into(), u128::try_from(stream).unwrap_or_default());
            let shuffled = |_| {
                let mut block: Vec<usize> = (0..variants).collect();
                block.shuffle(&mut random);
                block
            };
            (0..rounds).flat_map(shuffled).collect()
        }
    }
}

/// `count` blocks of each of `variants` once.
fn blocks(variants: usize, count: usize) -> Vec<Vec<usize>> {
    let triple = if count >= 3 && count % 2 == 1 { 3 } else { 0 };
    let mut blocks = Vec::with_capacity(count);
    for pair in 0..(count - triple).div_ceil(2) {
        let forth: Vec<usize> = (0..variants).map(|place| (place + pair) % variants).collect();
        let back = forth.iter().rev().copied().collect();
        blocks.extend([forth, back]);
    }
    blocks.truncate(count - triple);
    if triple > 0 {
        blocks.extend(balanced_triple(variants));
    }
    blocks
}

/// Three blocks in which the places of each variant add up to the same, or to two neighbouring sums where the number
/// of variants is even.
fn balanced_triple(variants: usize) -> [Vec<usize>; 3] {
    let half = variants.div_ceil(2);
    // Places of each variant: counted up; and down in two interleaved runs; and what is missing to the sum.
    let down = |variant: usize| {
        if variant.is_multiple_of(2) { half - 1 - variant / 2 } else { variants - 1 - variant / 2 }
    };
    let rest = |variant: usize| {
        if variant.is_multiple_of(2) {
            variants - 1 - variant / 2
        } else {
            variants / 2 - variant.div_ceil(2)
        }
    };
    let arranged = |place: &dyn Fn(usize) -> usize| {
        let mut order: Vec<usize> = (0..variants).collect();
        order.sort_by_key(|&variant| place(variant));
        order
    };
    [arranged(&|variant| variant), arranged(&rest), arranged(&down)]
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(blocks: &[Vec<usize>]) -> String {
        let name = |&variant: &usize| char::from(b'A' + u8::try_from(variant).unwrap());
        blocks.iter().map(|block| block.iter().map(name).collect::<String>()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn orders_as_they_are_known() {
        assert_eq!(names(&blocks(2, 4)), "AB BA BA AB");
        assert_eq!(names(&blocks(2, 3)), "AB BA AB");
        assert_eq!(names(&blocks(3, 2)), "ABC CBA");
        assert_eq!(names(&blocks(3, 4)), "ABC CBA BCA ACB");
        assert_eq!(names(&blocks(3, 1)), "ABC");
        assert_eq!(names(&blocks(1, 3)), "A A A");
    }

    /// Sums of the places of each variant.
    fn sums(order: &[usize], variants: usize) -> Vec<usize> {
        let places =
            |variant| order.iter().enumerate().filter(move |(_, v)| **v == variant).map(|(at, _)| at);
        (0..variants).map(|variant| places(variant).sum()).collect()
    }

    fn spread(sums: &[usize]) -> usize {
        sums.iter().max().unwrap() - sums.iter().min().unwrap()
    }

    proptest! {
        #[test]
        fn each_variant_comes_as_often_and_on_average_at_the_same_place(variants in 1_usize..9, count in 2_usize..13) {
            let order = blocks(variants, count).concat();
            for variant in 0..variants {
                prop_assert_eq!(order.iter().filter(|&&v| v == variant).count(), count);
            }
            // The sum of all places can only be split evenly if the number of variants divides it.
            let all: usize = (0..order.len()).sum();
            let least = usize::from(!all.is_multiple_of(variants));
            prop_assert_eq!(spread(&sums(&order, variants)), least);
        }
    }

    fn plan(kernels: bool, variants: usize, boots: u32, runs: u32, order: &str) -> Plan {
        let step = "[{ host = 'true' }]";
        let (plan, variant) = if kernels { (String::new(), step) } else { (format!("boot = {step}"), "") };
        let variant = |n| {
            let boot = if variant.is_empty() { String::new() } else { format!("boot = {variant}") };
            format!("[[variant]]\nname = 'v{n}'\n{boot}\n")
        };
        let variants: String = (0..variants).map(variant).collect();
        let text = format!(
            "schema = 1\nname = 'x'\nboots = {boots}\nruns = {runs}\norder = '{order}'\n{plan}\n{variants}"
        );
        super::super::plan::parse(&text).unwrap()
    }

    proptest! {
        #[test]
        fn every_run_that_is_asked_for_has_one_slot(
            kernels: bool, variants in 1_usize..6, boots in 1_u32..7, runs in 1_u32..7, random: bool,
        ) {
            let plan = plan(kernels, variants, boots, runs, if random { "random" } else { "abba" });
            let slots = slots(&plan);
            prop_assert_eq!(slots.len(), variants * size(boots) * size(runs));
            prop_assert!(slots.iter().enumerate().all(|(at, slot)| slot.number == at + 1));
            for variant in 0..variants {
                let of: Vec<&Slot> = slots.iter().filter(|slot| slot.variant == variant).collect();
                let boots_of: std::collections::BTreeSet<usize> = of.iter().map(|slot| slot.boot).collect();
                prop_assert_eq!((of.len(), boots_of.len()), (size(boots) * size(runs), size(boots)));
                for boot in boots_of {
                    let mut numbers: Vec<usize> =
                        of.iter().filter(|slot| slot.boot == boot).map(|slot| slot.run).collect();
                    numbers.sort_unstable();
                    prop_assert_eq!(numbers, (1..=size(runs)).collect::<Vec<_>>());
                }
            }
            // A boot of a kernel holds no other kernel's runs.
            if kernels {
                for pair in slots.windows(2).filter(|pair| pair[0].boot == pair[1].boot) {
                    prop_assert_eq!(pair[0].variant, pair[1].variant);
                }
            }
        }

        #[test]
        fn within_each_boot_knobs_are_balanced(variants in 1_usize..6, boots in 1_u32..7, runs in 2_u32..7) {
            let slots = slots(&plan(false, variants, boots, runs, "abba"));
            for boot in 1..=size(boots) {
                let order: Vec<usize> =
                    slots.iter().filter(|slot| slot.boot == boot).map(|slot| slot.variant).collect();
                prop_assert!(spread(&sums(&order, variants)) <= 1, "{:?}", order);
            }
            // Over an even number of boots nothing is left.
            if boots % 2 == 0 {
                let order: Vec<usize> = slots.iter().map(|slot| slot.variant).collect();
                prop_assert_eq!(spread(&sums(&order, variants)), 0, "{:?}", order);
            }
        }
    }

    #[test]
    fn boots_of_two_kernels_take_turns() {
        let slots = slots(&plan(true, 2, 4, 1, "abba"));
        assert_eq!(slots.iter().map(|slot| slot.variant).collect::<Vec<_>>(), [0, 1, 1, 0, 1, 0, 0, 1]);
    }

    #[test]
    fn a_random_order_follows_from_its_seed() {
        let mut one = plan(false, 4, 3, 5, "random");
        let first = slots(&one);
        assert_eq!(first, slots(&one));
        one.seed = 2;
        assert_ne!(first, slots(&one));
        // Boots differ from one another.
        assert_ne!(
            first[..20].iter().map(|slot| slot.variant).collect::<Vec<_>>(),
            first[20..40].iter().map(|slot| slot.variant).collect::<Vec<_>>()
        );
    }
}
