//! Contract of the ports that place, pay and cancel orders.

use std::sync::Arc;

use async_trait::async_trait;
use kontor_adapter_diesel::Database;
use kontor_customers::ports::CustomerRepository;
use kontor_kernel::{
    Clock as _, CustomerScope, DeliverySubtypeId, Money, NomenclatureId, ProjectId, PromoCode, ShopId, UserId,
};
use kontor_orders::model::{BY_DELIVERY, DeliveryChoice, DeliveryRequest};
use kontor_orders::testing::contract::{self, Fixture, StaffFixture as StaffContract, TicketFixture};

use super::shop::ShopFixture;
use super::staff_fixture::StaffFixture;
use crate::fixtures;

#[async_trait]
impl Fixture for ShopFixture<'_> {
    type Store = Database;

    fn store(&self) -> Arc<Database> {
        Arc::new(self.stock_fixture.db.database.clone())
    }

    async fn customer(&self) -> CustomerScope {
        self.another_customer().await
    }

    async fn delete_customer(&self, customer: CustomerScope) {
        let (project, id, at) = (customer.app.project_id, customer.counterparty_id, self.clock.now());
        CustomerRepository::delete_account(&self.stock_fixture.db.database, project, id, at).await.unwrap();
    }

    async fn employee(&self) -> UserId {
        StaffFixture::open(self).await.staff.user_id
    }

    async fn goods(&self, units: u32, price: Money) -> NomenclatureId {
        let id = ShopFixture::goods(self, "Vase", units.into(), price.minor()).await;
        NomenclatureId::new(id).unwrap()
    }

    async fn promo(&self, usage_limit: Option<u64>, customer_limit: Option<u64>) -> PromoCode {
        let limit = |limit: Option<u64>| limit.map_or_else(|| "NULL".to_owned(), |limit| limit.to_string());
        let code = format!("CODE-{}", self.count("discounts").await);
        ShopFixture::promo(self, &code, &limit(usage_limit), &limit(customer_limit)).await;
        PromoCode::parse(&code).unwrap()
    }

    fn delivery(&self) -> DeliveryRequest {
        self.command(&[(1, 1)]).delivery
    }
}

#[async_trait]
impl TicketFixture for ShopFixture<'_> {
    async fn tickets(&self, units: u32, price: Money) -> NomenclatureId {
        let id = ShopFixture::goods(self, "Concert", units.into(), price.minor()).await;
        self.stock_fixture.run(format!("UPDATE nomenclatures SET type_id = 6 WHERE id = {id}")).await;
        NomenclatureId::new(id).unwrap()
    }

    async fn shop(&self) -> ShopId {
        self.delivery().shop_id.unwrap()
    }
}

#[async_trait]
impl StaffContract for ShopFixture<'_> {
    async fn project(&self) -> (ProjectId, DeliveryChoice) {
        let project = fixtures::project(self.stock_fixture.db).await;
        let subtype = DeliverySubtypeId::new(1).unwrap();
        self.stock_fixture
            .run(format!(
                "INSERT INTO delivery_types (project_id, id, name, price, is_active) \
                 VALUES ({project}, {BY_DELIVERY}, 'Delivery', 0, TRUE); \
                 INSERT INTO delivery_subtypes (project_id, id, delivery_type_id, name, price, is_active) \
                 VALUES ({project}, {subtype}, {BY_DELIVERY}, 'Courier', 0, TRUE);"
            ))
            .await;
        (project, DeliveryChoice { type_id: BY_DELIVERY, subtype_id: Some(subtype) })
    }
}

promises! {
    ShopFixture:
    a_placed_order_is_found_again
    racing_orders_never_oversell
    a_refused_order_leaves_nothing
    a_promo_code_is_not_overused
    a_customer_does_not_overuse_a_promo_code
    an_order_from_other_data_is_stale
    unknown_people_have_no_orders
    a_canceled_order_releases_its_stock_once
    changes_are_decided_in_turn
    a_refused_change_writes_nothing
    money_taken_by_staff_counts_once
    a_charge_is_stored_with_its_order
    an_order_is_paid_once
    a_failed_payment_releases_the_stock_once
    late_money_is_reserved_for_its_refund
    an_order_reserves_all_of_its_lines
    a_failed_payment_returns_its_promo_use
    unconfirmed_orders_of_a_phone_are_bounded
    a_decision_gets_the_current_order
    changes_are_in_the_history
    an_employee_is_in_charge
    an_order_has_one_payment
    refunds_never_exceed_the_money_of_an_order
    each_unit_is_taken_back_once
    a_canceled_order_releases_what_is_left
    money_without_a_charge_is_refunded_at_once
    a_ticket_admits_once
    a_scan_is_judged_once
    only_paid_tickets_admit
    scans_are_listed_with_their_order
    a_ticket_is_redeemed_or_returned
    delivery_prices_belong_to_a_project
    order_lines_are_listed_by_project
    money_counts_when_it_arrives
    items_are_ranked_by_their_sales
}
