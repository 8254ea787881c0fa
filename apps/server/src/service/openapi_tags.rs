//! Tags of the operations, in the order in which a newcomer needs them.

use serde_json::json;
use utoipa::openapi::OpenApi;
use utoipa::openapi::extensions::{Extensions, ExtensionsBuilder};
use utoipa::openapi::tag::{Tag, TagBuilder};

/// Surface, and its tags with their descriptions.
type Surface = (&'static str, &'static [(&'static str, &'static str)]);

const SURFACES: [Surface; 3] = [
    (
        "Client surface",
        &[
            (
                "Client: session and login",
                "Customers sign in by a code, by a call or in a mini-app, and stay signed in by heartbeats; backends ask whose \
                 token they were shown.",
            ),
            ("Client: catalog", "Products, their prices and plans, searches and favourites."),
            (
                "Client: dictionaries",
                "What a storefront chooses from: categories, brands, shops, ways of delivery and payment.",
            ),
            ("Client: orders", "A cart is calculated, an order placed, paid, collected and canceled."),
            ("Client: subscriptions", "Recurring charges with saved payment methods, from the checkout to the end."),
            ("Client: profile", "The signed-in customer: their data, phone, verification and leaving."),
            ("Client: notifications", "What the customer was told."),
            ("Client: content", "Pages, blocks and menus of the application."),
            ("Client: settings", "How the application behaves."),
        ],
    ),
    (
        "Platform surface",
        &[
            ("Staff login and current user", "Employees sign in and out and see what they may do."),
            ("Agent access", "A program asks for access, an employee decides, the program fetches its token."),
            ("Agents", "Programs that act with permissions of their own, and their tokens."),
            ("Staff", "The employees of the project."),
            ("Roles and departments", "Which permissions there are, which role has them, and where people work."),
            ("Businesses", "Branches, their bank requisites and the integrations of these."),
            ("Applications", "The shops and apps of the project, and the plans they sell."),
            ("Application categories, brands, menu items", "What an application shows, and in which order."),
            ("Webhooks", "Who is told of paid orders, and what became of each delivery."),
            ("Catalog", "Goods, services and plans with their categories, in sheets, too."),
            ("Warehouses", "Where goods lie, and what these places are connected with."),
            ("Stock", "How much of what lies where, what it costs, and what is reserved."),
            ("Sales", "Discounts, promo codes and promotions."),
            ("Customers", "People and companies, their contacts, requisites and history."),
            ("Orders", "Orders as staff see and change them, with lines, files and refunds."),
            ("Subscriptions", "Subscriptions as staff see and steer them, with attempts, notices and settings."),
            ("Tasks", "What somebody has to do until when."),
            ("Shops", "Places that customers go to, with hours, holidays and exceptions."),
            ("Content", "Pages and blocks as their authors see them."),
            ("Staff menus", "The menus of the project's employees."),
            ("Files", "Documents and pictures."),
            ("Jobs", "Imports that run in the background."),
            ("Suggestions", "Addresses, banks and companies by the first letters."),
            ("Dictionaries", "The lists whose records other records name by their number."),
        ],
    ),
    ("Callbacks", &[("Callbacks", "What the acquirer and the telephony provider send; nobody else calls these.")]),
];

/// Returns every tag with its description.
pub(super) fn tags() -> Vec<Tag> {
    let areas = SURFACES.iter().flat_map(|(_, areas)| areas.iter());
    areas.map(|(name, text)| TagBuilder::new().name(*name).description(Some(*text)).build()).collect()
}

/// Groups the tags by surface, for viewers that support it.
pub(super) fn group(api: &mut OpenApi) {
    let groups = SURFACES.iter().map(|(surface, areas)| {
        let names: Vec<_> = areas.iter().map(|(name, _)| *name).collect();
        json!({ "name": surface, "tags": names })
    });
    let groups: Extensions = ExtensionsBuilder::new().add("x-tagGroups", groups.collect::<Vec<_>>()).build();
    api.extensions.get_or_insert_default().merge(groups);
}
