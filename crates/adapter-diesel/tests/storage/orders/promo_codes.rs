//! Changes by staff to a promo code between its check and the commit of an order.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chrono::TimeDelta;
use kontor_adapter_diesel::{Database, database_tests};
use kontor_catalog::model::{Discount, DiscountTerms, Period};
use kontor_catalog::ports::{DiscountRepository, DiscountRewrite};
use kontor_catalog::{DiscountError, DiscountRefusal};
use kontor_kernel::{Clock, DiscountId, DiscountStatus, DiscountValue, ProjectId, Quantity, Stamp, StoreError};
use kontor_orders::model::{OrderStatus, PromoProblem};
use kontor_orders::ports::{CartQuery, CartReader};
use kontor_orders::{CartSnapshot, PlacedOutcome, PlacementError, PlacementService};

use super::races::race;
use super::shop::ShopFixture;
use super::staff_fixture::StaffFixture;

type Change = Box<dyn Fn(&mut DiscountTerms, &mut DiscountStatus) + Send>;

/// Changes a discount after the first read of a cart.
struct InterleavedDiscountChange {
    database: Database,
    id: DiscountId,
    stamp: Stamp,
    change: Mutex<Option<Change>>,
}

async fn read(database: &Database, project: ProjectId, id: DiscountId) -> Discount {
    DiscountRepository::find(database, id).await.unwrap().unwrap().within(project).unwrap()
}

async fn rewrite(
    database: &Database,
    stamp: Stamp,
    id: DiscountId,
    change: impl Fn(&mut DiscountTerms, &mut DiscountStatus),
) -> Result<Discount, DiscountError> {
    let current = read(database, stamp.project_id, id).await;
    let (mut terms, mut status) = (current.terms, current.status);
    change(&mut terms, &mut status);
    let rewrite = DiscountRewrite { id, version: current.version, terms, status };
    DiscountRepository::replace(database, stamp, rewrite).await
}

#[async_trait]
impl CartReader for InterleavedDiscountChange {
    async fn snapshot(&self, query: CartQuery) -> Result<CartSnapshot, StoreError> {
        let seen = CartReader::snapshot(&self.database, query).await?;
        let change = self.change.lock().unwrap().take();
        if let Some(change) = change {
            rewrite(&self.database, self.stamp, self.id, change).await.unwrap();
        }
        Ok(seen)
    }
}

impl ShopFixture<'_> {
    fn stamp(&self) -> Stamp {
        Stamp::of_system(self.stock_fixture.project, self.clock.now())
    }

    /// A placement during which staff change the discount.
    fn disturbed(&self, id: DiscountId, change: Change) -> PlacementService {
        let carts = InterleavedDiscountChange {
            database: self.stock_fixture.db.database.clone(),
            id,
            stamp: self.stamp(),
            change: Mutex::new(Some(change)),
        };
        PlacementService { carts: Arc::new(carts), ..PlacementService::clone(&self.placement) }
    }
}

fn problem(outcome: Result<PlacedOutcome, PlacementError>) -> Option<PromoProblem> {
    match outcome {
        Err(PlacementError::Refused(refused)) => refused.promo,
        other => panic!("{other:?}"),
    }
}

database_tests! {
    async fn a_code_that_is_stopped_before_the_commit_is_not_taken(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 9, 10_000).await;
        let id = DiscountId::new(shop.promo("SPRING", "NULL", "NULL").await).unwrap();
        let command = shop.with_promo(&[(vase, 1)], "SPRING");
        let over = Period::new(None, Some(shop.clock.now() - TimeDelta::seconds(1))).unwrap();
        let stops: [(Change, PromoProblem); 3] = [
            (Box::new(|_, status| *status = DiscountStatus::Paused), PromoProblem::Paused),
            (Box::new(move |terms, status| {
                *status = DiscountStatus::Active;
                terms.period = over;
            }), PromoProblem::Expired),
            (Box::new(|terms, status| {
                terms.period = Period::default();
                *status = DiscountStatus::Archived;
            }), PromoProblem::Expired),
        ];
        for (change, expected) in stops {
            // The discount is valid when the cart is read.
            rewrite(&db.database, shop.stamp(), id, |terms, status| {
                terms.period = Period::default();
                *status = DiscountStatus::Active;
            }).await.unwrap();
            let refused = shop.disturbed(id, change).place(shop.customer, &command).await;
            assert_eq!(problem(refused), Some(expected));
        }
        assert_eq!((shop.count("orders").await, shop.count("discount_usages").await), (0, 0));
        assert_eq!((shop.stock(vase).await, read(&db.database, shop.stock_fixture.project, id).await.used_count), ((9, 0), 0));
    }

    async fn an_order_is_priced_again_when_the_terms_change_before_its_commit(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 9, 10_000).await;
        let id = DiscountId::new(shop.promo("SPRING", "NULL", "NULL").await).unwrap();
        let command = shop.with_promo(&[(vase, 1)], "SPRING");
        let half: Change = Box::new(|terms, _| terms.value = DiscountValue::Percent(5_000));
        shop.disturbed(id, half).place(shop.customer, &command).await.unwrap();
        let order = shop.only_order().await;
        assert_eq!((order.promo_discount.minor(), order.final_price.minor()), (5_000, 5_000));
        assert_eq!(read(&db.database, shop.stock_fixture.project, id).await.used_amount.minor(), 5_000);
    }

    async fn a_code_in_use_keeps_its_name_and_its_limit_covers_its_orders(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 9, 10_000).await;
        let id = DiscountId::new(shop.promo("SPRING", "NULL", "NULL").await).unwrap();
        for _ in 0..2 {
            shop.placed(&shop.with_promo(&[(vase, 1)], "SPRING")).await;
        }
        let limit = |most: i64| move |terms: &mut DiscountTerms, _: &mut DiscountStatus| {
            terms.promo.as_mut().unwrap().usage_limit = Some(Quantity::new(most).unwrap());
        };
        let refused = rewrite(&db.database, shop.stamp(), id, limit(1)).await;
        assert!(matches!(refused, Err(DiscountError::Refused(DiscountRefusal::BelowUsed { used: 2 }))), "{refused:?}");
        let refused = rewrite(&db.database, shop.stamp(), id, |terms, _| terms.promo = None).await;
        assert!(matches!(refused, Err(DiscountError::Refused(DiscountRefusal::CodeInUse))), "{refused:?}");
        let full = rewrite(&db.database, shop.stamp(), id, limit(2)).await.unwrap();
        let stale = DiscountRewrite { id, version: full.version - 1, terms: full.terms, status: full.status };
        let refused = DiscountRepository::replace(&db.database, shop.stamp(), stale).await;
        assert!(matches!(refused, Err(DiscountError::Refused(DiscountRefusal::Stale))), "{refused:?}");
        let refused = DiscountRepository::delete(&db.database, shop.stamp(), id).await;
        assert!(matches!(refused, Err(DiscountError::Refused(DiscountRefusal::UsedByOrders))), "{refused:?}");
        assert_eq!(shop.count("histories").await, 1, "only what was done is told");
    }

    async fn a_use_that_was_taken_without_its_amount_can_be_returned(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let staff_fixture = StaffFixture::open(&shop).await;
        let vase = shop.goods("Vase", 9, 10_000).await;
        let id = DiscountId::new(shop.promo("SPRING", "NULL", "NULL").await).unwrap();
        let orders = [
            shop.placed(&shop.with_promo(&[(vase, 1)], "SPRING")).await,
            shop.placed(&shop.with_promo(&[(vase, 1)], "SPRING")).await,
        ];
        // As an older version leaves it.
        shop.stock_fixture.run("UPDATE discounts SET used_amount = 1000".to_owned()).await;
        for left in [1, 0] {
            staff_fixture.move_to(&orders[left], OrderStatus::Canceled).await.unwrap();
            let discount = read(&db.database, shop.stock_fixture.project, id).await;
            assert_eq!((discount.used_count, discount.used_amount.minor()), (u64::try_from(left).unwrap(), 0));
        }
    }

    async fn two_hundred_orders_of_one_customer_get_three_uses(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 100).await;
        shop.promo("THRICE", "NULL", "3").await;
        let wishes = vec![(shop.customer, shop.with_promo(&[(vase, 1)], "THRICE")); 200];
        assert_eq!(race(&shop.placement, wishes).await, 3);
        assert_eq!((shop.count("discount_usages").await, shop.stock(vase).await), (3, (500, 3)));
    }

    async fn of_racing_orders_as_many_get_a_code_as_its_new_limit_allows(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 10_000).await;
        let id = DiscountId::new(shop.promo("SPRING", "NULL", "NULL").await).unwrap();
        let command = shop.with_promo(&[(vase, 1)], "SPRING");
        let wishes = vec![(shop.customer, command.clone()); 60];
        let limits = async {
            // Lowered to a little above the use, and raised again.
            let mut most = 0;
            for more in [1, 4] {
                loop {
                    tokio::task::yield_now().await;
                    let used = read(&db.database, shop.stock_fixture.project, id).await.used_count;
                    most = i64::try_from(used).unwrap() + more;
                    let limit = rewrite(&db.database, shop.stamp(), id, |terms, _| {
                        terms.promo.as_mut().unwrap().usage_limit = Some(Quantity::new(most).unwrap());
                    });
                    match limit.await {
                        Ok(_) => break,
                        Err(DiscountError::Refused(DiscountRefusal::BelowUsed { .. })) => {}
                        Err(other) => panic!("{other:?}"),
                    }
                }
            }
            u64::try_from(most).unwrap()
        };
        let (won, most) = tokio::join!(race(&shop.placement, wishes), limits);
        let mut won = u64::try_from(won).unwrap();
        assert!(won <= most, "{won} of {most}");
        while won < most {
            shop.placed(&command).await;
            won += 1;
        }
        assert_eq!(problem(shop.place(&command).await), Some(PromoProblem::LimitReached));
        let discount = read(&db.database, shop.stock_fixture.project, id).await;
        assert_eq!((discount.used_count, discount.used_amount.minor()), (most, i64::try_from(most).unwrap() * 1_000));
        assert_eq!(shop.count("discount_usages").await, i64::try_from(most).unwrap());
    }

    async fn orders_that_race_a_pause_come_before_it_or_not_at_all(db: TestDatabase) {
        let shop = ShopFixture::open(&db).await;
        let vase = shop.goods("Vase", 500, 10_000).await;
        let id = DiscountId::new(shop.promo("SPRING", "NULL", "NULL").await).unwrap();
        let command = shop.with_promo(&[(vase, 1)], "SPRING");
        let wishes = vec![(shop.customer, command.clone()); 60];
        let pause = async {
            tokio::task::yield_now().await;
            rewrite(&db.database, shop.stamp(), id, |_, status| *status = DiscountStatus::Paused).await.unwrap();
            read(&db.database, shop.stock_fixture.project, id).await.used_count
        };
        let (won, at_pause) = tokio::join!(race(&shop.placement, wishes), pause);
        let discount = read(&db.database, shop.stock_fixture.project, id).await;
        assert_eq!(discount.used_count, at_pause, "nobody took the code after the pause");
        assert_eq!(u64::try_from(won).unwrap(), at_pause);
        assert_eq!(discount.used_amount.minor(), i64::try_from(at_pause).unwrap() * 1_000);
        assert_eq!(problem(shop.place(&command).await), Some(PromoProblem::Paused));
    }
}
