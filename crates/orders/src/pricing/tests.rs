use chrono::TimeDelta;
use proptest::prelude::*;

use super::*;
use crate::model::DiscountStatus;
use crate::model::testing::a_discount;

fn at() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH
}

fn money(minor: i64) -> Money {
    Money::from_minor(minor).unwrap()
}

fn line(item: i64, category: i64, quantity: i64, unit_price: i64) -> PriceLine {
    PriceLine {
        item: NomenclatureId::new(item).unwrap(),
        categories: vec![CategoryId::new(category).unwrap()],
        quantity: Quantity::new(quantity).unwrap(),
        unit_price: money(unit_price),
    }
}

fn promo(discount: Discount) -> Promo {
    Promo { discount: Some(discount), used_by_customer: 0 }
}

#[test]
fn the_best_automatic_discount_of_a_line_wins_alone() {
    let lines = [line(1, 1, 2, 10_000), line(2, 2, 1, 5_000)];
    let automatic = [
        a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart),
        a_discount(DiscountValue::Fixed(money(1_500)), DiscountTarget::Product(NomenclatureId::new(1).unwrap())),
    ];
    let pricing = price(&lines, &automatic, None, at()).unwrap();
    assert_eq!(pricing.lines[0].product_discount, money(3_000), "1500 per piece beats ten percent");
    assert_eq!(pricing.lines[1].product_discount, money(500));
    assert_eq!(pricing.final_price(), money(21_500));
}

#[test]
fn a_promo_code_works_on_what_is_left() {
    let lines = [line(1, 1, 1, 10_000), line(2, 2, 1, 10_000)];
    let automatic = [a_discount(DiscountValue::Percent(5_000), DiscountTarget::Category(CategoryId::new(1).unwrap()))];
    let code = promo(a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart));
    let pricing = price(&lines, &automatic, Some(&code), at()).unwrap();
    assert_eq!((pricing.product_discount(), pricing.promo_discount()), (money(5_000), money(1_500)));
    assert_eq!(pricing.total_discount(), money(6_500));
}

#[test]
fn a_fixed_discount_on_a_product_counts_per_piece_with_a_code_and_without() {
    let lines = [line(1, 1, 3, 10_000), line(2, 1, 2, 500), line(3, 2, 1, 10_000)];
    let product = DiscountTarget::Product(NomenclatureId::new(1).unwrap());
    let category = DiscountTarget::Category(CategoryId::new(1).unwrap());
    for (target, off) in [(product, [4_500, 0, 0]), (category, [4_500, 1_000, 0])] {
        let fixed = a_discount(DiscountValue::Fixed(money(1_500)), target);
        let automatic = price(&lines, std::slice::from_ref(&fixed), None, at()).unwrap();
        assert_eq!(automatic.lines.iter().map(|line| line.product_discount.minor()).collect::<Vec<_>>(), off);
        let code = price(&lines, &[], Some(&promo(fixed)), at()).unwrap();
        assert_eq!(code.lines.iter().map(|line| line.promo_discount.minor()).collect::<Vec<_>>(), off);
        assert_eq!(code.final_price(), automatic.final_price());
    }
    // On the whole cart it is one amount.
    let cart = promo(a_discount(DiscountValue::Fixed(money(1_500)), DiscountTarget::Cart));
    assert_eq!(price(&lines, &[], Some(&cart), at()).unwrap().promo_discount(), money(1_500));
}

#[test]
fn every_reason_against_a_promo_code_is_named() {
    let base = || a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart);
    let second = TimeDelta::seconds(1);
    let other = NomenclatureId::new(9).unwrap();
    let cases = [
        (Promo { discount: None, used_by_customer: 0 }, "unknown"),
        (promo(Discount { starts_at: Some(at() + second), ..base() }), "not_started"),
        (promo(Discount { ends_at: Some(at()), ..base() }), "expired"),
        (promo(Discount { status: DiscountStatus::Paused, ..base() }), "paused"),
        (promo(Discount { usage_limit: Some(3), used_count: 3, ..base() }), "limit_reached"),
        (Promo { used_by_customer: 1, ..promo(Discount { customer_limit: Some(1), ..base() }) }, "customer_limit"),
        (promo(Discount { minimum_sum: money(10_001), ..base() }), "minimum_sum"),
        (promo(Discount { target: DiscountTarget::Product(other), ..base() }), "not_applicable"),
    ];
    for (promo, code) in cases {
        let pricing = price(&[line(1, 1, 1, 10_000)], &[], Some(&promo), at()).unwrap();
        assert_eq!(pricing.promo_problem.map(PromoProblem::code), Some(code));
        assert_eq!((pricing.promo_discount(), pricing.applied), (Money::ZERO, None));
    }
}

#[test]
fn amounts_that_no_amount_can_hold_are_refused_by_line() {
    let refused = price(&[line(1, 1, 1, 1), line(2, 1, 1_000_000_000, 1_000_000_000)], &[], None, at()).unwrap_err();
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.1.quantity"]);
    let whole = price(&[line(1, 1, 1, 1_000_000_000_000), line(2, 1, 1, 1)], &[], None, at());
    assert_eq!(whole, Err(CartRefused::TooExpensive));
}

fn any_discount() -> impl Strategy<Value = Discount> {
    let value = prop_oneof![
        (1..=10_000u16).prop_map(DiscountValue::Percent),
        (1..=5_000_000i64).prop_map(|minor| DiscountValue::Fixed(money(minor))),
    ];
    let target = prop_oneof![
        Just(DiscountTarget::Cart),
        (1..6i64).prop_map(|id| DiscountTarget::Category(CategoryId::new(id).unwrap())),
        (1..20i64).prop_map(|id| DiscountTarget::Product(NomenclatureId::new(id).unwrap())),
    ];
    (value, target, 0..2_000_000i64)
        .prop_map(|(value, target, minimum)| Discount { minimum_sum: money(minimum), ..a_discount(value, target) })
}

proptest! {
    #[test]
    fn lines_and_totals_agree_with_any_discounts(
        lines in prop::collection::vec((1..20i64, 1..6i64, 1..1_000i64, 0..3_000_000i64), 1..30),
        automatic in prop::collection::vec(any_discount(), 0..6),
        code in prop::option::of(any_discount()),
    ) {
        let lines: Vec<_> = lines.into_iter().map(|(i, c, q, p)| line(i, c, q, p)).collect();
        let promo = code.map(promo);
        let pricing = price(&lines, &automatic, promo.as_ref(), at()).unwrap();
        for (line, priced) in lines.iter().zip(&pricing.lines) {
            prop_assert_eq!(Some(priced.original), line.unit_price.checked_times(line.quantity.get()));
            let discounts = priced.product_discount.minor() + priced.promo_discount.minor();
            prop_assert_eq!(priced.total().minor(), priced.original.minor() - discounts, "never clipped");
        }
        let (original, left) = (pricing.original_price().minor(), pricing.final_price().minor());
        let total_discount = pricing.total_discount().minor();
        prop_assert_eq!(total_discount, pricing.product_discount().minor() + pricing.promo_discount().minor());
        prop_assert_eq!(left, original - total_discount);
        prop_assert!(left >= 0);
        if let Some((DiscountValue::Fixed(value), target)) = pricing.applied.as_ref().map(|code| (code.value, code.target)) {
            let pieces = lines.iter().map(|line| i64::from(line.quantity.get())).sum();
            let times = if target == DiscountTarget::Cart { 1 } else { pieces };
            prop_assert!(pricing.promo_discount().minor() <= value.minor() * times);
        }
        prop_assert_eq!(pricing.applied.is_some(), pricing.promo_discount() > Money::ZERO);
        prop_assert_eq!(promo.is_some(), pricing.applied.is_some() || pricing.promo_problem.is_some());
    }
}

#[test]
fn a_promo_code_works_from_its_first_to_its_last_moment_and_use() {
    let base = || a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart);
    let second = TimeDelta::seconds(1);
    for (promo, why) in [
        (promo(Discount { starts_at: Some(at()), ..base() }), "from the moment it starts"),
        (promo(Discount { ends_at: Some(at() + second), ..base() }), "until it ends"),
        (promo(Discount { usage_limit: Some(3), used_count: 2, ..base() }), "for the last time"),
        (Promo { used_by_customer: 1, ..promo(Discount { customer_limit: Some(2), ..base() }) }, "once more for them"),
        (promo(Discount { minimum_sum: money(10_000), ..base() }), "from exactly this sum"),
    ] {
        let pricing = price(&[line(1, 1, 1, 10_000)], &[], Some(&promo), at()).unwrap();
        assert_eq!((pricing.promo_problem, pricing.promo_discount()), (None, money(1_000)), "{why}");
        assert_eq!(pricing.applied, promo.discount, "{why}");
    }
    let archived = promo(Discount { status: DiscountStatus::Archived, ..base() });
    let pricing = price(&[line(1, 1, 1, 10_000)], &[], Some(&archived), at()).unwrap();
    assert_eq!(pricing.promo_problem, Some(PromoProblem::Expired));
}

#[test]
fn automatic_discounts_are_current_and_have_their_minimum() {
    let base = || a_discount(DiscountValue::Percent(1_000), DiscountTarget::Cart);
    let off = |automatic: Discount| {
        price(&[line(1, 1, 1, 10_000)], &[automatic], None, at()).unwrap().product_discount().minor()
    };
    assert_eq!(off(Discount { minimum_sum: money(10_000), starts_at: Some(at()), ..base() }), 1_000);
    assert_eq!(off(Discount { minimum_sum: money(10_001), ..base() }), 0);
    assert_eq!(off(Discount { ends_at: Some(at()), ..base() }), 0);
    assert_eq!(off(Discount { status: DiscountStatus::Paused, ..base() }), 0);
    assert_eq!(off(Discount { starts_at: Some(at() + TimeDelta::seconds(1)), ..base() }), 0);
}

#[test]
fn a_fixed_discount_on_the_cart_is_spread_over_its_lines_and_takes_no_more_than_they_cost() {
    let lines = [line(1, 1, 1, 200), line(2, 2, 1, 100)];
    let off = |minor| {
        let fixed = a_discount(DiscountValue::Fixed(money(minor)), DiscountTarget::Cart);
        let automatic = price(&lines, std::slice::from_ref(&fixed), None, at()).unwrap();
        let code = price(&lines, &[], Some(&promo(fixed)), at()).unwrap();
        let automatic: Vec<_> = automatic.lines.iter().map(|line| line.product_discount.minor()).collect();
        assert_eq!(automatic, code.lines.iter().map(|line| line.promo_discount.minor()).collect::<Vec<_>>());
        automatic
    };
    assert_eq!(off(30), [20, 10]);
    assert_eq!(off(1_000), [200, 100]);
}

#[test]
fn the_largest_amount_is_still_an_amount() {
    let most = Money::MAX.minor();
    assert_eq!(price(&[line(1, 1, 1, most)], &[], None, at()).unwrap().final_price(), Money::MAX);
    let halves = [line(1, 1, 1, most / 2), line(2, 1, 1, most / 2)];
    assert_eq!(price(&halves, &[], None, at()).unwrap().final_price(), Money::MAX);
    let refused = price(&[line(1, 1, 2, most / 2 + 1)], &[], None, at()).unwrap_err();
    assert_eq!(refused.violations().fields().keys().collect::<Vec<_>>(), ["products.0.quantity"]);
}

#[test]
fn half_a_penny_is_one() {
    assert_eq!(percent(1, 5_000), 1);
    assert_eq!(percent(333, 1_000), 33);
}

#[test]
fn a_share_is_rounded_half_up_and_is_never_more_than_the_whole() {
    assert_eq!((percent(10_049, 100), percent(10_050, 100)), (100, 101));
    assert_eq!((percent(333, 10_000), percent(333, 20_000), percent(0, 10_000)), (333, 333, 0));
    assert_eq!(percent(i64::MAX, 10_000), i64::MAX);
}
