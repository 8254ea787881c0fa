//! The Rust client works with a demo: login, products, cart, an order under a key, errors with fields, staff.

use kontor_adapter_diesel::database_tests;
use kontor_client::types::{
    CartInput, CodeLogin, CodeRequest, ListProductsQuery, NewOrder, PageQuery, ProductLine, ProfilePatch,
    StaffListOrdersQuery, StaffLogin,
};
use kontor_client::{Client, ClientSurface, Error, Money, NextAction, Patch, Retries};

use crate::customer_client::ApplicationClient;
use crate::member::DemoFixture;
use crate::support::send;

/// Logs the customer of the demo in with the code of a call.
async fn sign_in(fixture: &DemoFixture, shop: &ClientSurface) -> ClientSurface {
    let phone = &fixture.file().customer.phone;
    shop.send_password(&CodeRequest { phone: phone.clone() }).await.unwrap();
    let front = ApplicationClient::of_demo(fixture.file());
    let messages = send(front.http.get(format!("{}/control/messages?to={phone}", front.sandbox))).await.expect(200);
    let password = messages["messages"][0]["code"].as_str().unwrap().into();
    let login = CodeLogin { phone: phone.clone(), password, device: None };
    let customer = shop.log_in(&login).await.unwrap().counterparty;
    assert_eq!(customer.phone_1.as_deref(), Some(phone.as_str()));
    shop.with_customer(customer.access_token.value)
}

database_tests! {
    async fn a_shop_sells_and_its_staff_sees_the_order(db: TestDatabase) {
        let fixture = DemoFixture::open(db).await;
        let client = Client::new(&fixture.file().base_url).unwrap();
        let shop = client.application(fixture.file().app_token.as_str());
        let customer = sign_in(&fixture, &shop).await;

        let listed = shop.list_products(&ListProductsQuery { per_page: Some(2), ..ListProductsQuery::default() });
        let total = listed.await.unwrap().products.total;
        let pages = shop.list_products_pages(ListProductsQuery { per_page: Some(7), ..ListProductsQuery::default() });
        let all = pages.all().await.unwrap();
        assert_eq!(i64::try_from(all.len()).unwrap(), total);
        assert!(total > 7, "{total}");
        let product = shop.show_product(1).await.unwrap().product;
        assert!(all.iter().any(|listed| (listed.id, &listed.name, listed.price) == (1, &product.name, product.price)));

        let products = vec![ProductLine { id: 1, quantity: 2 }];
        let promo_code = Some("HANSE10".to_owned());
        let input = CartInput { products: products.clone(), promo_code, ..CartInput::default() };
        let cart = shop.calculate_cart(&input).await.unwrap();
        assert_eq!(product.price.checked_times(2), Some(cart.original_price));
        let discounted = cart.original_price.checked_sub(cart.total_discount_amount);
        assert_eq!((Some(cart.final_price), cart.price), (discounted, cart.original_price));
        assert!(cart.total_discount_amount > Money::ZERO);

        let order = NewOrder {
            delivery_type_id: 2,
            delivery_subtype_id: Some(2),
            address: Some("Elbe Street 5".to_owned()),
            products,
            ..NewOrder::default()
        };
        let placed = customer.place_order(&order).idempotency_key("order-1").send().await.unwrap();
        let again = customer.place_order(&order).idempotency_key("order-1").send().await.unwrap();
        assert_eq!((placed.status, placed.replayed, again.replayed), (201, false, true));
        assert_eq!(placed.body, again.body);
        let placed = placed.body.order;
        assert_eq!((placed.original_price, placed.products.len()), (cart.original_price, 1));
        let own = customer.list_own_orders(&PageQuery::default()).await.unwrap();
        assert_eq!(own.orders.iter().filter(|order| order.id == placed.id).count(), 1);

        let staff = &fixture.file().staff;
        let login = StaffLogin { login: staff.login.clone(), password: staff.password.as_str().into() };
        let user = client.platform().log_in(&login).await.unwrap().user;
        let owner_client = client.staff(user.access_token.value);
        let orders = owner_client.list_orders_pages(StaffListOrdersQuery { per_page: Some(5), ..StaffListOrdersQuery::default() });
        assert!(orders.all().await.unwrap().iter().any(|order| order.id == placed.id));
        fixture.end().await;
    }

    async fn refusals_name_their_fields_codes_and_requests(db: TestDatabase) {
        let fixture = DemoFixture::open(db).await;
        let client = Client::new(&fixture.file().base_url).unwrap();
        let shop = client.application(fixture.file().app_token.as_str());
        let customer = sign_in(&fixture, &shop).await;

        let wrong = NewOrder { products: vec![ProductLine { id: 0, quantity: 0 }], ..NewOrder::default() };
        let refused = customer.place_order(&wrong).await.unwrap_err();
        let refusal = refused.refusal().unwrap();
        assert_eq!(refusal.status, 422, "{refused}");
        for field in ["delivery_type_id", "products.0.id", "products.0.quantity"] {
            assert!(refusal.fields.contains_key(field), "{field}: {refused}");
        }
        assert!(refusal.request_id.is_some());

        let name = |name: &str| ProfilePatch { first_name: Patch::Set(name.to_owned()), ..ProfilePatch::default() };
        let profile = customer.update_profile(&name("Ada")).idempotency_key("name-1").await.unwrap();
        assert_eq!(profile.counterparty.first_name.as_deref(), Some("Ada"));
        let reused = customer.update_profile(&name("Eva")).idempotency_key("name-1").await.unwrap_err();
        let refusal = reused.refusal().unwrap();
        assert_eq!((refusal.status, refusal.code.as_deref()), (422, Some("idempotency_key_reused")));
        assert_eq!(refusal.next_action, Some(NextAction::FixInput));
        let cleared = ProfilePatch { first_name: Patch::Clear, ..ProfilePatch::default() };
        assert_eq!(customer.update_profile(&cleared).await.unwrap().counterparty.first_name, None);

        let outsider = shop.with_customer("1|stranger").list_own_orders(&PageQuery::default()).await.unwrap_err();
        assert_eq!(outsider.status(), Some(401));
        assert_eq!(shop.show_product(999_999).await.unwrap_err().status(), Some(404));
        fixture.end().await;
        let gone = client.with_retries(Retries::NONE).application("t").list_tags().await.unwrap_err();
        assert!(matches!(gone, Error::Unreachable { .. }), "{gone}");
    }
}
