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
                "Customer login by code, call or mini-app, session heartbeats, and token introspection for backends.",
            ),
            ("Client: catalog", "Products, prices, plans, searches and favourites."),
            ("Client: dictionaries", "Categories, brands, shops, delivery and payment types."),
            ("Client: orders", "Cart calculation and orders."),
            ("Client: subscriptions", "Recurring charges with saved payment methods, from checkout to cancellation."),
            ("Client: profile", "The signed-in customer: profile, phone change, verification and account deletion."),
            ("Client: notifications", "Notifications of the customer."),
            ("Client: content", "Pages, blocks and menus of the application."),
            ("Client: settings", "Settings of the application."),
        ],
    ),
    (
        "Platform surface",
        &[
            ("Staff login and current user", "Employee login and logout, and the current user with permissions."),
            (
                "Agent access",
                "A program requests access, an employee approves or declines, and the program fetches its token.",
            ),
            ("Agents", "Programs with their own permissions, and their tokens."),
            ("Agent actions", "Approval of agents' calls by an employee, where the policy of the project demands it."),
            ("Staff", "The employees of the project."),
            ("Roles and departments", "Permissions, roles and departments."),
            ("Businesses", "Branches, their bank accounts and integrations."),
            ("Applications", "Sales channels of the project, and the plans they sell."),
            (
                "Application categories, brands, menu items",
                "Categories, brands and menu items of an application, and their order.",
            ),
            ("Webhooks", "Webhook endpoints for paid orders, and their deliveries."),
            ("Catalog", "Goods, services, plans and categories, with spreadsheet import and export."),
            ("Warehouses", "Warehouses and their integrations."),
            ("Stock", "Stock levels, prices and reservations."),
            ("Sales", "Discounts, promo codes and promotions."),
            ("Customers", "People and companies, their contacts, requisites and history."),
            ("Orders", "Orders for staff, with lines, files and refunds."),
            ("Reports", "Sales figures for charts: by day, by hour and by item."),
            ("Subscriptions", "Subscriptions for staff, with charge attempts, notices and settings."),
            ("Tasks", "Tasks of employees, with due dates."),
            ("Shops", "Shops that customers visit, with opening hours, holidays and exceptions."),
            ("Content", "Pages, blocks and slides, for editors."),
            ("Staff menus", "Menus for employees of the project."),
            ("Files", "Documents and pictures."),
            ("Jobs", "Imports and exports that run in the background."),
            ("Suggestions", "Address, bank and company suggestions while typing."),
            ("Project settings", "Settings of the project, and their history."),
            ("Dictionaries", "Reference lists. Other records refer to their entries by id."),
        ],
    ),
    ("Callbacks", &[("Callbacks", "Notifications from the acquirer and the telephony provider.")]),
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
