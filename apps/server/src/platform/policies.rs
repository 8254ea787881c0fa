use kontor_kernel::Permission;
use kontor_kernel::Resource::{
    Agents, Applications, Branches, Brands, Categories, Departments, Dictionaries, Inventories, Nomenclatures, Orders,
    Permissions, Roles, Users, Warehouses, Webhooks,
};

use crate::http::policy::Access::{self, Public, Staff};
use crate::http::policy::{Policy, delete, get, patch, post, put};

const SIGNED_IN: Access = Staff(&[]);

/// `staff!(view Orders)`, `staff!(create Nomenclatures, edit Nomenclatures)`
macro_rules! staff {
    ($($action:ident $resource:ident),+) => { Staff(&[$(Permission::$action($resource)),+]) };
}

/// Who may call the platform surface.
pub const POLICIES: &[Policy] = &[
    // Staff login and current user
    post("/api/send_password", Public),
    post("/api/login", Public),
    get("/api/user", SIGNED_IN),
    post("/api/user/logout", SIGNED_IN),
    // Agent access
    post("/api/agent-access-requests", Public),
    get("/api/agent-access-requests/{publicId}/review", staff!(view Agents)),
    post("/api/agent-access-requests/{publicId}/review", staff!(create Agents)),
    post("/api/agent-access-requests/{publicId}/approve", staff!(create Agents)),
    post("/api/agent-access-requests/{publicId}/decline", staff!(create Agents)),
    post("/api/agent-access-requests/{publicId}/status", Public),
    post("/api/agent-access-requests/{publicId}/consume", Public),
    // Agents
    get("/api/agents", staff!(view Agents)),
    post("/api/agents", staff!(create Agents)),
    get("/api/agents/{agent}", staff!(view Agents)),
    patch("/api/agents/{agent}", staff!(edit Agents)),
    delete("/api/agents/{agent}", staff!(edit Agents)),
    get("/api/agents/{agent}/tokens", staff!(view Agents)),
    post("/api/agents/{agent}/tokens", staff!(edit Agents)),
    delete("/api/agents/{agent}/tokens/{token}", staff!(edit Agents)),
    get("/api/tables/agents", staff!(view Agents)),
    // Staff
    get("/api/users", staff!(view Users)),
    get("/api/managers", staff!(view Users)),
    get("/api/responsible_users", staff!(view Users)),
    // Access
    get("/api/departments", staff!(view Departments)),
    post("/api/departments", staff!(create Departments)),
    get("/api/departments/{id}", staff!(view Departments)),
    put("/api/departments/{id}", staff!(edit Departments)),
    delete("/api/departments/{id}", staff!(edit Departments)),
    get("/api/roles", staff!(view Roles)),
    post("/api/roles", staff!(create Roles)),
    get("/api/roles/{id}", staff!(view Roles)),
    put("/api/roles/{id}", staff!(edit Roles)),
    delete("/api/roles/{id}", staff!(edit Roles)),
    get("/api/permissions", staff!(view Permissions)),
    post("/api/permissions", staff!(create Permissions)),
    get("/api/permissions/{id}", staff!(view Permissions)),
    put("/api/permissions/{id}", staff!(edit Permissions)),
    delete("/api/permissions/{id}", staff!(edit Permissions)),
    get("/api/screens", staff!(view Permissions)),
    get("/api/screens/{id}", staff!(view Permissions)),
    // Businesses
    get("/api/branches", staff!(view Branches)),
    post("/api/branches", staff!(create Branches)),
    // Applications
    get("/api/applications", staff!(view Applications)),
    post("/api/applications", staff!(create Applications)),
    get("/api/applications/{id}", staff!(view Applications)),
    get("/api/applications/{id}/brands", staff!(view Applications)),
    post("/api/applications/{id}/brands", staff!(edit Applications)),
    get("/api/applications/{id}/categories", staff!(view Applications)),
    post("/api/applications/{id}/categories", staff!(edit Applications)),
    // Webhooks
    get("/api/applications/{application}/webhooks", staff!(view Webhooks)),
    post("/api/applications/{application}/webhooks", staff!(create Webhooks)),
    get("/api/applications/{application}/webhooks/{webhook}", staff!(view Webhooks)),
    patch("/api/applications/{application}/webhooks/{webhook}", staff!(edit Webhooks)),
    delete("/api/applications/{application}/webhooks/{webhook}", staff!(edit Webhooks)),
    get("/api/applications/{application}/webhooks/{webhook}/deliveries", staff!(view Webhooks)),
    post("/api/applications/{application}/webhooks/{webhook}/deliveries/{delivery}/resend", staff!(edit Webhooks)),
    post("/api/applications/{application}/webhooks/{webhook}/rotate-secret", staff!(edit Webhooks)),
    // Catalog
    get("/api/brands", staff!(view Brands)),
    post("/api/brands", staff!(create Brands)),
    get("/api/categories", staff!(view Categories)),
    post("/api/categories", staff!(create Categories)),
    get("/api/nomenclatures", staff!(view Nomenclatures)),
    post("/api/nomenclatures", staff!(create Nomenclatures)),
    get("/api/nomenclatures/{id}", staff!(view Nomenclatures)),
    put("/api/nomenclatures/{id}", staff!(edit Nomenclatures)),
    post("/api/nomenclatures/export", staff!(view Nomenclatures)),
    post("/api/nomenclatures/import", staff!(create Nomenclatures, edit Nomenclatures)),
    get("/api/tables/nomenclatures", staff!(view Nomenclatures)),
    // Warehouses and stock
    post("/api/warehouses", staff!(create Warehouses)),
    get("/api/warehouses/{id}", staff!(view Warehouses)),
    put("/api/warehouses/{id}", staff!(edit Warehouses)),
    get("/api/inventories", staff!(view Inventories)),
    post("/api/inventories", staff!(create Inventories)),
    post("/api/inventories/upload", staff!(edit Inventories)),
    get("/api/tables/inventories", staff!(view Inventories)),
    // Orders
    get("/api/orders", staff!(view Orders)),
    get("/api/orders/{id}", staff!(view Orders)),
    put("/api/orders/{id}", staff!(edit Orders)),
    get("/api/tables/orders", staff!(view Orders)),
    // Dictionaries
    get("/api/delivery_types", staff!(view Dictionaries)),
    get("/api/nomenclature_kinds", staff!(view Dictionaries)),
    get("/api/order_statuses", staff!(view Dictionaries)),
    get("/api/storage_units", staff!(view Dictionaries)),
    get("/api/vats", staff!(view Dictionaries)),
];
