//! Allocation of the units of a line to warehouses.

use std::cmp::Reverse;

use kontor_kernel::Quantity;

use super::snapshot::WarehouseStock;

/// Units of a line from one warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allocated {
    /// Stock of the item in the warehouse.
    pub place: WarehouseStock,
    /// Number of units.
    pub quantity: Quantity,
}

/// Strategy that chooses the warehouses of a line.
pub trait Allocation: Send + Sync {
    /// Distributes `quantity` units over the stock of an item. Each place occurs at most once and gives at most
    /// its available units; together they give exactly `quantity`. `None` if all places together have too few.
    fn allocate(&self, places: &[WarehouseStock], quantity: Quantity) -> Option<Vec<Allocated>>;
}

/// Strategy with as few warehouses as possible.
///
/// Of the warehouses with enough units, the cheapest is chosen; at equal prices the oldest. If none has enough,
/// the warehouse with the most units is emptied first (then the cheaper, then the older one). This repeats until
/// one warehouse has enough for the rest.
#[derive(Debug, Clone, Copy, Default)]
pub struct FewestWarehouses;

impl Allocation for FewestWarehouses {
    fn allocate(&self, places: &[WarehouseStock], quantity: Quantity) -> Option<Vec<Allocated>> {
        let mut left: Vec<WarehouseStock> = places.iter().filter(|place| place.available > 0).copied().collect();
        left.sort_by_key(|place| (Reverse(place.available), place.price, place.warehouse));
        let mut wanted = quantity.get();
        let mut taken = Vec::new();
        while let Some(fullest) = left.first().copied() {
            let enough = left.iter().filter(|place| place.available >= wanted);
            if let Some(&place) = enough.min_by_key(|place| (place.price, place.warehouse)) {
                taken.push(Allocated { place, quantity: Quantity::new(wanted.into()).ok()? });
                return Some(taken);
            }
            taken.push(Allocated { place: fullest, quantity: Quantity::new(fullest.available.into()).ok()? });
            wanted -= fullest.available;
            left.remove(0);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::{InventoryId, Money, WarehouseId};
    use proptest::prelude::*;

    fn place(number: i64, price: i64, available: u32) -> WarehouseStock {
        WarehouseStock {
            inventory: InventoryId::new(number).unwrap(),
            warehouse: WarehouseId::new(number).unwrap(),
            price: Money::from_minor(price).unwrap(),
            available,
        }
    }

    fn taken(places: &[WarehouseStock], pieces: i64) -> Option<Vec<(i64, u32)>> {
        let taken = FewestWarehouses.allocate(places, Quantity::new(pieces).unwrap())?;
        Some(taken.iter().map(|from| (from.place.warehouse.get(), from.quantity.get())).collect())
    }

    #[test]
    fn one_warehouse_is_enough_where_one_has_enough() {
        let places = [place(1, 900, 3), place(3, 1_000, 9), place(2, 1_000, 9), place(4, 1_100, 99)];
        assert_eq!(taken(&places, 3), Some(vec![(1, 3)]));
        assert_eq!(taken(&places, 4), Some(vec![(2, 4)]));
        assert_eq!(taken(&places, 10), Some(vec![(4, 10)]));
    }

    #[test]
    fn several_give_what_none_has_alone() {
        assert_eq!(taken(&[place(1, 500, 5), place(2, 500, 2)], 7), Some(vec![(1, 5), (2, 2)]));
        assert_eq!(taken(&[place(1, 500, 5), place(2, 500, 2)], 8), None);
        // The rest comes from the cheapest warehouse, not from the fullest.
        assert_eq!(taken(&[place(1, 500, 5), place(2, 400, 4), place(3, 300, 2)], 7), Some(vec![(1, 5), (3, 2)]));
        assert_eq!(
            taken(&[place(2, 500, 5), place(1, 500, 5), place(3, 400, 5)], 12),
            Some(vec![(3, 5), (1, 5), (2, 2)])
        );
        assert_eq!(taken(&[], 1), None);
    }

    fn fewest_warehouses(places: &[WarehouseStock], pieces: u32) -> Option<usize> {
        let sets = 0..1_u32 << places.len();
        let holds = |set: &u32| {
            let chosen = places.iter().enumerate().filter(|(index, _)| set & (1 << index) != 0);
            chosen.map(|(_, place)| place.available).sum::<u32>() >= pieces
        };
        let size = |set: u32| usize::try_from(set.count_ones()).unwrap();
        sets.filter(holds).map(size).min()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn exactly_what_is_wanted_from_as_few_as_possible(
            stock in prop::collection::vec((1..4_i64, 0..8_u32), 0..7),
            pieces in 1..40_u32,
        ) {
            let places: Vec<_> =
                (1..).zip(&stock).map(|(number, (price, available))| place(number, *price, *available)).collect();
            let taken = FewestWarehouses.allocate(&places, Quantity::new(pieces.into()).unwrap());
            prop_assert_eq!(taken.as_ref().map(Vec::len), fewest_warehouses(&places, pieces));
            let Some(taken) = taken else { return Ok(()) };
            prop_assert_eq!(taken.iter().map(|from| from.quantity.get()).sum::<u32>(), pieces);
            let mut warehouses: Vec<_> = taken.iter().map(|from| from.place.warehouse).collect();
            warehouses.sort();
            warehouses.dedup();
            prop_assert_eq!(warehouses.len(), taken.len());
            prop_assert!(taken.iter().all(|from| from.quantity.get() <= from.place.available));
        }
    }
}
