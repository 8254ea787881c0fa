//! More actions of staff and customers on a storefront, and more requests to it.

use std::sync::Arc;

use kontor::adapters::SystemClock;
use kontor_catalog::TagService;
use kontor_catalog::model::TagDraft;
use kontor_kernel::{Name, ProjectId};
use proptest::prelude::*;
use reqwest::Method;
use serde_json::{Value, json};

use super::{ITEMS, Place, Store};
use crate::shop_fixture::ShopFixture;
use crate::support::{Answer, send};

/// Records these actions use.
pub struct Range {
    brands: Vec<i64>,
    tags: Vec<i64>,
    service: i64,
    /// Another application of the branch.
    other_application: i64,
    discounts: Vec<i64>,
    shops: Vec<i64>,
    /// A second warehouse and its stock level, if there is one.
    depot: Option<(i64, i64)>,
}

#[derive(Debug, Clone, Copy)]
pub enum How {
    Up,
    Down,
    Away,
    Back,
}

#[derive(Debug, Clone)]
pub enum Action {
    /// By request, not by spreadsheet.
    Pieces {
        which: usize,
        pieces: u8,
        price: u16,
    },
    NewItem {
        number: u8,
    },
    Label {
        which: usize,
        brand: usize,
        country: i64,
        tagged: bool,
    },
    NewTag,
    RenameBrand {
        brand: usize,
        name: u16,
    },
    Engraving {
        price: u16,
    },
    Assortment {
        brands: bool,
        which: usize,
        how: How,
    },
    Serve {
        everybody: bool,
    },
    /// Adds a second warehouse with units, or removes it.
    Depot {
        which: usize,
    },
    Reduce {
        which: usize,
        percent: u8,
        whole_category: bool,
    },
    /// Pauses, activates or archives a discount.
    Turn {
        action: &'static str,
    },
    Pay {
        which: usize,
        succeeds: bool,
    },
    /// Views a product.
    Look,
    /// Changes the second shop.
    Outlet(Outlet),
}

#[derive(Debug, Clone, Copy)]
pub enum Outlet {
    Rename { name: u16 },
    Show { shown: bool },
    Open { weekday: i64 },
    Replace,
}

impl Action {
    /// Returns `true` if the action always runs in the first process.
    pub fn is_apart(&self) -> bool {
        matches!(self, Self::NewTag | Self::Pay { .. })
    }
}

/// Returns every action at least once.
pub fn every_action() -> Vec<BoxedStrategy<Action>> {
    let which = || 0..ITEMS;
    let assortment = |how: How| {
        (any::<bool>(), 0..2_usize).prop_map(move |(brands, which)| Action::Assortment { brands, which, how }).boxed()
    };
    let turn = |action: &'static str| Just(Action::Turn { action }).boxed();
    let reduce = |whole_category: bool| {
        let reduce = move |(which, percent)| Action::Reduce { which, percent, whole_category };
        (which(), 1..90_u8).prop_map(reduce).boxed()
    };
    let pay = |succeeds: bool| which().prop_map(move |which| Action::Pay { which, succeeds }).boxed();
    let label = |(which, brand, country, tagged)| Action::Label { which, brand, country, tagged };
    vec![
        (which(), 0..6_u8, 1..3_000_u16)
            .prop_map(|(which, pieces, price)| Action::Pieces { which, pieces, price })
            .boxed(),
        any::<u8>().prop_map(|number| Action::NewItem { number }).boxed(),
        (which(), 0..2_usize, 1..4_i64, Just(true)).prop_map(label).boxed(),
        (which(), 0..2_usize, 1..4_i64, any::<bool>()).prop_map(label).boxed(),
        Just(Action::NewTag).boxed(),
        (0..2_usize, any::<u16>()).prop_map(|(brand, name)| Action::RenameBrand { brand, name }).boxed(),
        (1..3_000_u16).prop_map(|price| Action::Engraving { price }).boxed(),
        assortment(How::Up),
        assortment(How::Down),
        assortment(How::Away),
        assortment(How::Back),
        Just(Action::Serve { everybody: false }).boxed(),
        Just(Action::Serve { everybody: true }).boxed(),
        which().prop_map(|which| Action::Depot { which }).boxed(),
        which().prop_map(|which| Action::Depot { which }).boxed(),
        reduce(false),
        reduce(true),
        turn("pause"),
        turn("activate"),
        turn("archive"),
        pay(true),
        pay(false),
        Just(Action::Look).boxed(),
        any::<u16>().prop_map(|name| Action::Outlet(Outlet::Rename { name })).boxed(),
        Just(Action::Outlet(Outlet::Show { shown: false })).boxed(),
        Just(Action::Outlet(Outlet::Show { shown: true })).boxed(),
        (1..8_i64).prop_map(|weekday| Action::Outlet(Outlet::Open { weekday })).boxed(),
        Just(Action::Outlet(Outlet::Replace)).boxed(),
    ]
}

impl Range {
    pub async fn of(front: &ShopFixture, owner: &str) -> Self {
        let create = async |path: &str, body: Value| {
            let request = front.server.as_staff(owner, Method::POST, path).json(&body);
            let made = send(request).await.expect(201);
            made.as_object().unwrap().values().next().unwrap()["id"].as_i64().unwrap()
        };
        let application = front.project.application_id;
        let mut brands = Vec::new();
        for name in ["Nord", "Süd"] {
            let brand = create("/api/brands", json!({ "name": name })).await;
            create(&format!("/api/applications/{application}/brands"), json!({ "brand_id": brand })).await;
            brands.push(brand);
        }
        let engraving = json!({ "name": "Engraving", "kind_id": 1, "price": "15.00" });
        let service = create("/api/nomenclatures", engraving).await;
        let other_application = json!({ "name": "Twin", "branch_id": front.project.branch_id });
        let other_application = create("/api/applications", other_application).await;
        let second = json!({ "name": "Pier", "address": "Quay 2", "branch_id": front.project.branch_id });
        let shops = vec![front.shop, create("/api/shops", second).await];
        let mut range =
            Self { brands, tags: Vec::new(), service, other_application, discounts: Vec::new(), shops, depot: None };
        range.new_tag(front).await;
        range
    }

    async fn new_tag(&mut self, front: &ShopFixture) {
        let tags = TagService { tags: Arc::new(front.server.db.database.clone()), clock: Arc::new(SystemClock) };
        let name = Name::parse(&format!("Tag {}", self.tags.len())).unwrap();
        let project = ProjectId::new(front.project.id).unwrap();
        let tag = tags.add(project, TagDraft { name, photo: None }).await.unwrap();
        self.tags.push(tag.id.get());
    }

    /// Returns the paths besides the plain lists.
    pub fn paths(&self) -> Vec<String> {
        let fixed = [
            "tags",
            "slides",
            "countries",
            "products?query=vase",
            "products?query=cup&order_by=name_desc",
            "prices?query=va",
            "products?price_from=12&price_to=20",
            "products?country_id[]=1&country_id[]=2",
            "prices?sale=1",
            "shops",
        ];
        let mut paths: Vec<String> = fixed.into_iter().map(str::to_owned).collect();
        paths.extend(self.brands.iter().map(|brand| format!("products?brand_id[]={brand}")));
        paths.push(format!("products?tag_id[]={}", self.tags[0]));
        paths.push(format!("products/{}", self.service));
        paths.extend(self.shops.iter().map(|shop| format!("shops/{shop}")));
        paths
    }
}

impl Store {
    async fn post(&self, place: &Place, path: &str, body: Value) -> Answer {
        send(place.request(Method::POST, path).bearer_auth(&self.owner).json(&body)).await
    }

    async fn remove(&self, place: &Place, path: &str) -> Answer {
        send(place.request(Method::DELETE, path).bearer_auth(&self.owner)).await
    }

    pub async fn act(&mut self, place: &Place, action: &Action) {
        let item = |which: usize| self.items[which % self.items.len()];
        let card = |which: usize| format!("/api/nomenclatures/{}", item(which));
        match *action {
            Action::Pieces { which, pieces, price } => {
                let stock = format!("SELECT min(id) AS id FROM inventories WHERE nomenclature_id = {}", item(which));
                let path = format!("/api/inventories/{}", self.front.server.insert(stock).await);
                let set = self.put(place, &path, json!({ "quantity": pieces, "price": format!("{price}.00") })).await;
                // A quantity below the reservations is refused, and nothing changes.
                assert!([200, 422].contains(&set.status.as_u16()), "{}", set.text);
            }
            Action::NewItem { number } => {
                let pot = json!({ "name": format!("Pot {number}"), "kind_id": 2, "category_id": self.categories[0] });
                let pot = self.post(place, "/api/nomenclatures", pot).await.expect(201)["nomenclature"]["id"].clone();
                let warehouse = self.front.warehouse;
                let stock =
                    json!({ "warehouse_id": warehouse, "nomenclature_id": pot, "quantity": 3, "price": "13.00" });
                self.post(place, "/api/inventories", stock).await.expect(201);
            }
            Action::Label { which, brand, country, tagged } => {
                let tags = if tagged { self.range.tags.clone() } else { Vec::new() };
                let label = json!({ "brand_id": self.range.brands[brand], "country_id": country, "tags": tags });
                self.put(place, &card(which), label).await.expect(200);
            }
            Action::NewTag => self.range.new_tag(&self.front).await,
            Action::RenameBrand { brand, name } => {
                let path = format!("/api/brands/{}", self.range.brands[brand]);
                self.put(place, &path, json!({ "name": format!("Brand {brand} {name}") })).await.expect(200);
            }
            Action::Engraving { price } => {
                let path = format!("/api/nomenclatures/{}", self.range.service);
                self.put(place, &path, json!({ "price": format!("{price}.00") })).await.expect(200);
            }
            Action::Assortment { brands, which, how } => self.change_assortment(place, brands, which, how).await,
            Action::Serve { everybody } => {
                let path = format!("/api/warehouses/{}", self.front.warehouse);
                let served = if everybody { Vec::new() } else { vec![self.range.other_application] };
                self.put(place, &path, json!({ "application_ids": served })).await.expect(200);
            }
            Action::Depot { which } => {
                let item = item(which);
                self.depot(place, item).await;
            }
            Action::Reduce { which, percent, whole_category } => {
                let mut discount = json!({ "name": "Now", "type": "percent", "value": percent });
                if whole_category {
                    discount["category_id"] = json!(self.categories[which % 2]);
                } else {
                    discount["nomenclature_id"] = json!(item(which));
                }
                let made = self.post(place, "/api/discounts", discount).await.expect(201);
                self.range.discounts.push(made["discount"]["id"].as_i64().unwrap());
            }
            Action::Turn { action } => {
                if let Some(last) = self.range.discounts.last() {
                    let turned = self.post(place, &format!("/api/discounts/{last}/{action}"), json!({})).await;
                    // An archived discount stays archived.
                    assert!([200, 409, 422].contains(&turned.status.as_u16()), "{}", turned.text);
                }
            }
            Action::Pay { which, succeeds } => {
                let placed = self.front.order(&self.front.online(item(which))).await;
                if placed.status == 201 {
                    let order = placed.json()["order"]["id"].as_i64().unwrap();
                    let (outcome, ends) = if succeeds { ("succeed", 22) } else { ("decline", 6) };
                    self.front.pays(outcome).await;
                    self.front.until(order, ends).await;
                } else {
                    assert_eq!(placed.status, 422, "{}", placed.text);
                }
            }
            Action::Look => {
                self.front.server.clock.advance(700);
            }
            Action::Outlet(outlet) => self.outlet(place, outlet).await,
        }
    }

    async fn outlet(&mut self, place: &Place, outlet: Outlet) {
        let path = format!("/api/shops/{}", self.range.shops[1]);
        match outlet {
            Outlet::Rename { name } => {
                self.put(place, &path, json!({ "name": format!("Pier {name}") })).await.expect(200);
            }
            Outlet::Show { shown } => {
                self.put(place, &path, json!({ "is_active": shown })).await.expect(200);
            }
            Outlet::Open { weekday } => {
                let hours = json!({ "weekday": weekday, "opens_at": "09:00", "closes_at": "18:00" });
                self.post(place, &format!("{path}/hours"), hours).await.expect(201);
            }
            Outlet::Replace => {
                self.remove(place, &path).await.expect(200);
                let next = json!({ "name": "Wharf", "address": "Quay 3", "branch_id": self.front.project.branch_id });
                let next = self.post(place, "/api/shops", next).await.expect(201);
                self.range.shops[1] = next["shop"]["id"].as_i64().unwrap();
            }
        }
    }

    async fn change_assortment(&self, place: &Place, brands: bool, which: usize, how: How) {
        let (resource, field, ids) = if brands {
            ("brands", "brand_id", &self.range.brands)
        } else {
            ("categories", "category_id", &self.categories)
        };
        let path = format!("/api/applications/{}/{resource}", self.front.project.application_id);
        let one = format!("{path}/{}", ids[which]);
        let done = match how {
            How::Up => self.post(place, &format!("{one}/up"), json!({})).await,
            How::Down => self.post(place, &format!("{one}/down"), json!({})).await,
            How::Away => self.remove(place, &one).await,
            How::Back => self.post(place, &path, json!({ field: ids[which] })).await,
        };
        // A record that is not shown cannot be moved.
        assert!(done.status.is_success() || done.status == 404, "{}", done.text);
    }

    async fn depot(&mut self, place: &Place, item: i64) {
        let Some((warehouse, stock)) = self.range.depot else {
            let depot = json!({ "name": "Depot", "branch_id": self.front.project.branch_id });
            let depot = self.post(place, "/api/warehouses", depot).await.expect(201);
            let warehouse = depot["warehouse"]["id"].as_i64().unwrap();
            let stock = json!({ "warehouse_id": warehouse, "nomenclature_id": item, "quantity": 7, "price": "11.00" });
            let stock = self.post(place, "/api/inventories", stock).await.expect(201);
            self.range.depot = Some((warehouse, stock["inventory"]["id"].as_i64().unwrap()));
            return;
        };
        let emptied = self.put(place, &format!("/api/inventories/{stock}"), json!({ "quantity": 0 })).await;
        if emptied.status == 200 {
            self.remove(place, &format!("/api/warehouses/{warehouse}")).await.expect(200);
            self.range.depot = None;
        } else {
            assert_eq!(emptied.status, 422, "{}", emptied.text);
        }
    }
}
