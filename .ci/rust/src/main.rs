//! A generated client against a demo: what the description promises can be read without a cast.
//!
//! usage: generated-client DEMO.json    The file is the one that `kontor demo` writes.

use std::error::Error;

use kontor::{
    ApiOpError, CartInput, CounterpartyShowProductApiError, HttpClient, NewPage, ProductLine, StaffLogin,
};
use serde_json::Value;

#[allow(warnings, reason = "it is generated")]
mod kontor;

const NO_KEY: Option<&str> = None;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("usage: generated-client DEMO.json")?;
    let demo: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let text = |pointer: &str| {
        let found = demo.pointer(pointer).and_then(Value::as_str);
        found.map(str::to_owned).ok_or_else(|| format!("demo.json has no {pointer}"))
    };
    shop(HttpClient::new().with_base_url(text("/base_url")?).with_header("Token", text("/app_token")?)).await?;
    staff(HttpClient::new().with_base_url(text("/base_url")?), text("/staff/login")?, text("/staff/password")?).await?;
    println!("the generated client reads what the demo says");
    Ok(())
}

async fn shop(client: HttpClient) -> Result<(), Box<dyn Error>> {
    let none = || None::<&str>;
    let list = client.counterparty_list_products(none(), None, None, None, None, none(), None, None, None, None, None, Some(2));
    let products = list.await?.products;
    let first = products.data.first().ok_or("nothing is sold")?;
    let card = client.counterparty_show_product(first.id).await?.product;
    assert_eq!((&card.name, products.per_page), (&first.name, 2));
    let cart = CartInput::new(vec![ProductLine { id: first.id, quantity: 2 }]);
    let cart = client.counterparty_calculate_cart(NO_KEY, cart).await?;
    assert_eq!(cart.products.len(), 1);

    match client.counterparty_show_product(999_999).await {
        Err(ApiOpError::Api(refused)) => match refused.typed {
            Some(CounterpartyShowProductApiError::Status404(refusal)) => assert!(!refusal.message.is_empty()),
            other => return Err(format!("a refusal of another shape: {other:?}").into()),
        },
        other => return Err(format!("an unknown product: {other:?}").into()),
    }
    Ok(())
}

async fn staff(client: HttpClient, login: String, password: String) -> Result<(), Box<dyn Error>> {
    let signed_in = client.log_in(NO_KEY, StaffLogin { login, password }).await?.user;
    let client = client.with_api_key(signed_in.access_token.value);
    let page = client.create_page(NO_KEY, NewPage::new("Generated".to_owned())).await?.page;
    assert_eq!((page.slug.as_str(), page.author.map(|author| author.id)), ("generated", Some(signed_in.id)));
    Ok(())
}
