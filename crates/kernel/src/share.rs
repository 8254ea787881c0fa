//! Splitting of whole amounts without losing or adding a minor unit.

/// Splits `amount` in proportion to `weights` by largest remainder. Equal remainders go to the earlier part. No part
/// exceeds its weight as long as the amount does not exceed their sum.
pub fn distribute(amount: i64, weights: &[i64]) -> Vec<i64> {
    let whole: i128 = weights.iter().copied().map(i128::from).sum();
    if whole <= 0 {
        return vec![0; weights.len()];
    }
    let products: Vec<i128> = weights.iter().map(|weight| i128::from(amount) * i128::from(*weight)).collect();
    let mut parts: Vec<i64> =
        products.iter().map(|product| i64::try_from(product / whole).unwrap_or_default()).collect();
    let given: i64 = parts.iter().sum();
    let mut by_remainder: Vec<usize> = (0..products.len()).collect();
    by_remainder.sort_by_key(|index| products.get(*index).map_or(0, |product| -(product % whole)));
    let missing = usize::try_from(amount - given).unwrap_or_default();
    for index in by_remainder.into_iter().take(missing) {
        if let Some(part) = parts.get_mut(index) {
            *part += 1;
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_penny_goes_to_the_largest_remainder() {
        assert_eq!(distribute(100, &[1, 1, 1]), [34, 33, 33]);
        assert_eq!(distribute(10, &[5, 0, 5]), [5, 0, 5]);
        assert_eq!(distribute(7, &[0, 0]), [0, 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up_and_never_exceed_their_weight(
            weights in prop::collection::vec(0..1_000_000_000_000i64, 1..40),
            fraction in 0.0..=1.0f64,
        ) {
            let whole: i64 = weights.iter().sum();
            #[expect(clippy::as_conversions, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a random amount")]
            let amount = ((whole as f64 * fraction) as i64).min(whole);
            let parts = distribute(amount, &weights);
            prop_assert_eq!(parts.iter().sum::<i64>(), amount);
            prop_assert!(parts.iter().zip(&weights).all(|(part, weight)| (0..=*weight).contains(part)));
        }
    }
}
