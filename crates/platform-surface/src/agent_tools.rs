//! Operations that agents may call, with the class of their effect.

use std::sync::{Arc, LazyLock};

use kontor_auth::model::{Tool, ToolClass};
use kontor_kernel::Permission;
use kontor_web::policy::{Access, Policy};

use crate::POLICIES;

/// Operations that change nothing that belongs to the project.
const READ: &[&str] = &[
    "POST /api/user/logout",
    "POST /api/nomenclatures/export",
    "POST /api/search_nomenclature",
    "POST /api/inventories/export",
    "POST /api/counterparties/export",
    "POST /api/orders/calculator",
    "POST /api/orders/export",
    "POST /api/pages/preview",
    "POST /api/search_address",
    "POST /api/search_bank",
    "POST /api/search_company",
];

/// Operations that another write takes back.
const WRITE: &[&str] = &[
    "POST /api/departments",
    "PUT /api/departments/{id}",
    "POST /api/branches",
    "PUT /api/branches/{id}",
    "POST /api/applications/{id}/brands",
    "POST /api/applications/{id}/brands/{brand_id}/up",
    "POST /api/applications/{id}/brands/{brand_id}/down",
    "POST /api/applications/{id}/categories/{category_id}/up",
    "POST /api/applications/{id}/categories/{category_id}/down",
    "POST /api/applications/{id}/categories",
    "POST /api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}/resend",
    "POST /api/applications/{application}/webhooks/{webhook}/test",
    "POST /api/brands",
    "PUT /api/brands/{id}",
    "POST /api/categories",
    "PUT /api/categories/{id}",
    "PUT /api/nomenclatures/import/columns",
    "POST /api/warehouses",
    "PUT /api/warehouses/{id}",
    "PUT /api/inventories/upload/columns",
    "POST /api/jobs/{id}/cancel",
    "POST /api/counterparties",
    "PUT /api/counterparties/{id}",
    "POST /api/counterparties/{id}/bank_requisites",
    "PUT /api/counterparties/{id}/bank_requisites/{requisiteId}",
    "POST /api/counterparties/{id}/contacts",
    "PUT /api/counterparties/{id}/contacts/{contactId}",
    "POST /api/orders/{id}/files",
    "POST /api/files",
    "POST /api/shops",
    "PUT /api/shops/{id}",
    "POST /api/shops/{id}/hours",
    "PUT /api/shops/{id}/hours/{hour_id}",
    "POST /api/shops/{id}/holidays",
    "PUT /api/shops/{id}/holidays/{holiday_id}",
    "POST /api/shops/{id}/exceptions",
    "PUT /api/shops/{id}/exceptions/{exception_id}",
    "POST /api/users/{id}/attach_menu",
    "POST /api/attach_menu_to_project",
    "POST /api/users/{id}/create_menu_from_user_items",
    "POST /api/tasks",
    "PUT /api/tasks/{id}",
    "POST /api/applications/{id}/menu_items",
    "PUT /api/applications/{id}/menu_items/{menu_item_id}",
    "POST /api/applications/{id}/menu_items/{menu_item_id}/up",
    "POST /api/applications/{id}/menu_items/{menu_item_id}/down",
    "POST /api/applications/{id}/blocks",
    "PUT /api/applications/{id}/blocks/{block_id}",
    "POST /api/applications/{id}/slides",
    "PUT /api/applications/{id}/slides/{slide_id}",
    "POST /api/applications/{id}/slides/{slide_id}/up",
    "POST /api/applications/{id}/slides/{slide_id}/down",
    "POST /api/pages",
    "PUT /api/pages/{id}",
];

/// Operations that move money, or change prices, stock, settings or access.
const MONEY: &[&str] = &[
    "POST /api/agent-access-requests/{publicId}/review",
    "POST /api/agent-access-requests/{publicId}/approve",
    "POST /api/agent-access-requests/{publicId}/decline",
    "POST /api/agents",
    "PATCH /api/agents/{agent}",
    "POST /api/agents/{agent}/tokens",
    "POST /api/agent-actions/{publicId}/approve",
    "POST /api/agent-actions/{publicId}/refuse",
    "PUT /api/agent-policy",
    "POST /api/users",
    "PUT /api/users/{id}",
    "POST /api/users/{id}/ban",
    "POST /api/users/{id}/unban",
    "POST /api/roles",
    "PUT /api/roles/{id}",
    "POST /api/permissions",
    "PUT /api/permissions/{id}",
    "POST /api/branches/{id}/bank_requisites",
    "PUT /api/branches/{id}/bank_requisites/{requisiteId}",
    "PUT /api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}",
    "POST /api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters",
    "POST /api/applications",
    "PUT /api/applications/{id}",
    "POST /api/applications/{id}/activate",
    "POST /api/applications/{id}/deactivate",
    "PUT /api/applications/{id}/payment_types",
    "POST /api/applications/{application}/subscription-nomenclatures",
    "PATCH /api/applications/{application}/subscription-nomenclatures/{assignment}",
    "POST /api/applications/{application}/webhooks",
    "PATCH /api/applications/{application}/webhooks/{webhook}",
    "POST /api/nomenclatures",
    "PUT /api/nomenclatures/{id}",
    "POST /api/nomenclatures/import",
    "PUT /api/warehouses/{id}/integrations/{integration_id}",
    "POST /api/warehouses/{id}/integrations/{integration_id}/parameters",
    "POST /api/warehouses/{id}/integrations/{integration_id}/parameters/{parameter_id}",
    "POST /api/inventories",
    "PUT /api/inventories/{id}",
    "POST /api/inventories/upload",
    "POST /api/orders",
    "PUT /api/orders/{id}",
    "POST /api/orders/{id}/request-refund",
    "POST /api/orders/{id}/record-payment",
    "POST /api/orders/{id}/nomenclatures",
    "PUT /api/orders/{id}/nomenclatures/{nomenclature}",
    "POST /api/discounts",
    "PUT /api/discounts/{id}",
    "POST /api/discounts/{id}/pause",
    "POST /api/discounts/{id}/activate",
    "POST /api/discounts/{id}/archive",
    "POST /api/promotions",
    "PUT /api/promotions/{id}",
    "POST /api/payment_types",
    "PUT /api/payment_types/{id}",
    "PUT /api/project",
    "PUT /api/project/delivery_prices",
    "PUT /api/subscriptions/settings",
    "POST /api/subscriptions/{id}/pause",
    "POST /api/subscriptions/{id}/skip",
    "POST /api/subscriptions/{id}/billing-day",
    "POST /api/subscriptions/{id}/charge",
    "POST /api/subscriptions/{id}/release",
];

/// Operations that delete records, use up tickets, or end what cannot be continued.
const DESTRUCTIVE: &[&str] = &[
    "DELETE /api/agents/{agent}",
    "DELETE /api/agents/{agent}/tokens/{token}",
    "DELETE /api/departments/{id}",
    "DELETE /api/roles/{id}",
    "DELETE /api/permissions/{id}",
    "DELETE /api/branches/{id}",
    "DELETE /api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters/{parameterId}",
    "POST /api/applications/{id}/rotate-token",
    "DELETE /api/applications/{id}/brands/{brand_id}",
    "DELETE /api/applications/{id}/categories/{category_id}",
    "DELETE /api/applications/{application}/subscription-nomenclatures/{assignment}",
    "DELETE /api/applications/{application}/webhooks/{webhook}",
    "POST /api/applications/{application}/webhooks/{webhook}/rotate-secret",
    "DELETE /api/warehouses/{id}",
    "DELETE /api/counterparties/{id}",
    "POST /api/orders/redeem",
    "POST /api/orders/redeem/batch",
    "DELETE /api/orders/{id}/nomenclatures/{nomenclature}",
    "DELETE /api/orders/{id}",
    "DELETE /api/files/{id}",
    "DELETE /api/discounts/{id}",
    "DELETE /api/promotions/{id}",
    "DELETE /api/shops/{id}",
    "DELETE /api/shops/{id}/hours/{hour_id}",
    "DELETE /api/shops/{id}/holidays/{holiday_id}",
    "DELETE /api/shops/{id}/exceptions/{exception_id}",
    "DELETE /api/applications/{id}/menu_items/{menu_item_id}",
    "DELETE /api/applications/{id}/blocks/{block_id}",
    "DELETE /api/applications/{id}/slides/{slide_id}",
    "DELETE /api/pages/{id}",
    "POST /api/subscriptions/{id}/cancel",
];

/// Operations whose body or response holds secrets: settings of integrations, tokens, keys of tickets. Their calls are
/// never stored.
const SECRETS: &[&str] = &[
    "POST /api/agents/{agent}/tokens",
    // The password of the employee. Its execution is another request, which a rehearsal must not make.
    "POST /api/agent-actions/{publicId}/approve",
    "POST /api/applications",
    "POST /api/applications/{id}/rotate-token",
    "POST /api/applications/{application}/webhooks",
    "PATCH /api/applications/{application}/webhooks/{webhook}",
    "POST /api/applications/{application}/webhooks/{webhook}/rotate-secret",
    "PUT /api/branches/{branchId}/bank_requisites/{bankId}/integrations/{integrationsId}",
    "POST /api/branches/{branchId}/bank_requisites/{bankId}/integrations/{id}/parameters",
    "PUT /api/warehouses/{id}/integrations/{integration_id}",
    "POST /api/warehouses/{id}/integrations/{integration_id}/parameters",
    "POST /api/warehouses/{id}/integrations/{integration_id}/parameters/{parameter_id}",
    "POST /api/orders/redeem",
    "POST /api/orders/redeem/batch",
];

/// Operations with a dry run (`kontor_web::body::DryRun`).
const PREVIEWS: &[&str] = &[
    "PUT /api/orders/{id}",
    "POST /api/orders/{id}/nomenclatures",
    "PUT /api/orders/{id}/nomenclatures/{nomenclature}",
    "POST /api/orders/{id}/request-refund",
];

/// Operations that name the amount of money that they move, and the field of the body.
const AMOUNTS: &[(&str, &str)] = &[("POST /api/orders/{id}/request-refund", "amount")];

/// Returns the class of an operation; one in no list moves money.
fn class(name: &str) -> ToolClass {
    let lists = [
        (READ, ToolClass::Read),
        (WRITE, ToolClass::Write),
        (MONEY, ToolClass::Money),
        (DESTRUCTIVE, ToolClass::Destructive),
    ];
    let listed = lists.into_iter().find(|(names, _)| names.contains(&name));
    listed.map_or(ToolClass::Money, |(_, class)| class)
}

/// Returns the writes of the platform surface.
pub fn agent_tools() -> Arc<[Tool]> {
    static TOOLS: LazyLock<Arc<[Tool]>> = LazyLock::new(tools);
    Arc::clone(&TOOLS)
}

fn tool(policy: &'static Policy, permissions: &'static [Permission]) -> Tool {
    let name = format!("{} {}", policy.method, policy.path);
    let name = name.as_str();
    Tool {
        method: policy.method.as_str(),
        path: policy.path,
        class: class(name),
        permissions,
        holds_secrets: SECRETS.contains(&name),
        has_preview: PREVIEWS.contains(&name),
        amount: AMOUNTS.iter().find(|(operation, _)| *operation == name).map(|(_, field)| *field),
    }
}

fn tools() -> Arc<[Tool]> {
    let writes = POLICIES.iter().filter(|policy| policy.method != actix_web::http::Method::GET);
    let tools = writes.filter_map(|policy| match policy.access {
        Access::Staff(permissions) => Some(tool(policy, permissions)),
        _ => None,
    });
    tools.collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_write_has_one_class() {
        let lists = [READ, WRITE, MONEY, DESTRUCTIVE];
        let listed: Vec<&str> = lists.iter().flat_map(|names| names.iter().copied()).collect();
        let names: BTreeSet<&str> = listed.iter().copied().collect();
        assert_eq!(names.len(), listed.len(), "an operation is in two lists");
        let tools = agent_tools();
        let served: Vec<String> = tools.iter().map(|tool| format!("{} {}", tool.method, tool.path)).collect();
        assert_eq!(names, served.iter().map(String::as_str).collect());
    }

    #[test]
    fn every_named_operation_exists() {
        let tools = agent_tools();
        let amounts = AMOUNTS.iter().map(|(operation, _)| operation);
        for name in SECRETS.iter().chain(PREVIEWS).chain(amounts) {
            assert!(tools.iter().any(|tool| format!("{} {}", tool.method, tool.path) == **name), "{name}");
        }
    }

    #[test]
    fn an_approval_is_not_rehearsed() {
        let tools = agent_tools();
        let approval = tools.iter().find(|tool| tool.path == "/api/agent-actions/{publicId}/approve");
        // Its execution is a request of its own, which has its effect.
        assert!(approval.unwrap().holds_secrets);
    }

    #[test]
    fn deleting_is_destructive() {
        let tools = agent_tools();
        let others = tools.iter().filter(|tool| tool.method == "DELETE" && tool.class != ToolClass::Destructive);
        assert_eq!(others.map(|tool| tool.path).collect::<Vec<_>>(), Vec::<&str>::new());
    }
}
