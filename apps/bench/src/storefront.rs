//! The most frequent requests of visitors, each beside a bare server that answers with as many bytes.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use actix_web::dev::ServerHandle;
use actix_web::web::{self, Bytes};
use actix_web::{App, HttpResponse, HttpServer};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::Failure;
use crate::load::{self, Request, RunLengths, Target, in_turns};
use crate::report::{Figure, Goal, Report};
use crate::shop::{Offer, Shop};

/// Number of distinct carts.
const CARTS: usize = 500;

/// Measures the product list, one product and the calculation of a cart.
pub fn measure(shop: &Shop, lengths: &RunLengths, report: &mut Report) -> Result<(), Failure> {
    let offers = shop.offers()?;
    let categories = categories(&offers);
    let lists: Arc<[Request]> = categories.iter().map(|category| list(shop, *category)).collect();
    let cards: Arc<[Request]> = offers.iter().map(|offer| card(shop, offer)).collect();
    let baskets = offers.chunks_exact(3).take(CARTS).map(|lines| basket(shop, lines)).collect();

    let hot = [("hot product list", lists.clone()), ("hot product card", cards.clone())];
    let figures: [(&str, f64, Arc<[Request]>); 3] = [
        ("product list, 20 of a category", 0.12, lists),
        ("product card", 0.12, cards),
        ("precalculate, 3 lines", 0.08, baskets),
    ];
    for (name, goal, requests) in figures {
        let target = Target { address: shop.address, expected: 200, requests, once: false };
        report.add(beside(shop, lengths, name, Goal::AtLeast(goal), target)?);
    }
    let remembering = shop.remembering()?;
    for (name, requests) in hot {
        let target = Target { address: remembering.address, expected: 200, requests, once: false };
        report.add(beside(shop, lengths, name, Goal::AtLeast(0.5), target)?);
    }
    remembering.close(shop);
    Ok(())
}

fn token(shop: &Shop) -> [(&str, &str); 1] {
    [("Token", shop.project.app_token.as_str())]
}

/// Returns the categories of the products on sale.
pub fn categories(offers: &[Offer]) -> Vec<i64> {
    let mut categories: Vec<i64> = offers.iter().map(|offer| offer.category).collect();
    categories.sort_unstable();
    categories.dedup();
    categories
}

/// Creates a request for the first page of a category.
pub fn list(shop: &Shop, category: i64) -> Request {
    let path = format!("/api/counterparty/products?category_id[]={category}&per_page=20");
    Request::new("GET", &path, &token(shop), "")
}

/// Creates a request for one product.
pub fn card(shop: &Shop, offer: &Offer) -> Request {
    Request::new("GET", &format!("/api/counterparty/products/{}", offer.product), &token(shop), "")
}

/// Creates a request for the calculation of a cart.
pub fn basket(shop: &Shop, lines: &[Offer]) -> Request {
    let lines = lines.iter().zip(1..).map(|(offer, quantity)| json!({ "id": offer.product, "quantity": quantity }));
    let body = json!({ "products": lines.collect::<Vec<_>>() }).to_string();
    Request::new("POST", "/api/counterparty/orders/precalculate", &token(shop), &body)
}

/// Measures requests to the service beside a bare server.
pub fn beside(shop: &Shop, lengths: &RunLengths, name: &str, goal: Goal, ours: Target) -> Result<Figure, Failure> {
    let size = load::body_size(&ours, CARTS)?;
    let bare = Bare::start(&shop.runtime, size)?;
    let peer = Target { address: bare.address, ..ours.clone() };
    let run = |target: &Target, time| load::run(target, lengths.connections, lengths.threads, time);
    run(&peer, lengths.warm_up)?;
    run(&ours, lengths.warm_up)?;
    let pair = in_turns(lengths.rounds, || run(&ours, lengths.round), || run(&peer, lengths.round))?;
    bare.stop(&shop.runtime);
    Ok(Figure::ratio(format!("{name} ({size} bytes)"), pair.ratio(), goal).beside(&pair))
}

/// A server that answers every request with the same body.
pub struct Bare {
    pub address: SocketAddr,
    handle: ServerHandle,
}

impl Bare {
    /// Starts a server with a body of this size and as many threads as the service has by default.
    pub fn start(runtime: &Runtime, size: usize) -> Result<Self, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let body = Bytes::from(vec![b' '; size]);
        let _inside = runtime.enter();
        let server = HttpServer::new(move || {
            let body = body.clone();
            App::new().default_service(web::to(move |_sent: Bytes| {
                let body = body.clone();
                async move { HttpResponse::Ok().content_type("application/json").body(body) }
            }))
        });
        let server = server.disable_signals().listen(listener)?.run();
        let handle = server.handle();
        runtime.spawn(server);
        Ok(Self { address, handle })
    }

    pub fn stop(self, runtime: &Runtime) {
        runtime.block_on(self.handle.stop(false));
    }
}
