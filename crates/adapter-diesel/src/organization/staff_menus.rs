//! Menus of the staff interface.

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use chrono::NaiveDateTime;
use diesel::OptionalExtension as _;
use kontor_kernel::{Name, Permission, ProjectId, ProjectScoped, StaffMenuId, Stamp, StoreError, UserId};
use kontor_organization::model::{MenuScreen, StaffMenu, StaffMenuItem, StaffMenuItems};
use kontor_organization::ports::{MenuOwner, StaffMenuStore};
use kontor_organization::{StaffMenuError, StaffMenuRefusal};

use crate::database::{Abort, AnyConnection, Database, Topic, on_duplicate};
use crate::decode;
use crate::statement::{Statement, by_place};
use crate::unreadable;

/// Maximum menus per project.
const MAX_MENUS: i64 = 100;

by_place! {
    struct MenuRow {
        id: i64,
        name: String,
        created_at: NaiveDateTime,
        is_project: Option<i64>,
        is_own: Option<i64>,
    }
}

by_place! {
    struct ItemRow {
        menu: i64,
        screen: Option<i64>,
        name: String,
        url: String,
    }
}

by_place! {
    struct NamedRow {
        id: i64,
        name: String,
    }
}

by_place! {
    struct UserRow {
        project: i64,
        is_owner: bool,
    }
}

/// Returns the menus of a project, with the choices of an employee.
fn menus(connection: &mut AnyConnection, project: ProjectId, user: i64) -> Result<Vec<StaffMenu>, Abort<StoreError>> {
    let rows: Vec<MenuRow> = Statement::new(
        "SELECT m.id, m.name, m.created_at, p.menu_id, u.menu_id FROM staff_menus m \
         LEFT JOIN staff_menu_uses p ON p.menu_id = m.id AND p.project_id = m.project_id AND p.owner = 'project' \
         LEFT JOIN staff_menu_uses u ON u.menu_id = m.id AND u.project_id = m.project_id AND u.owner = 'user' \
         AND u.owner_id = ",
    )
    .value(user)
    .sql(" WHERE m.project_id = ")
    .value(project.get())
    .sql(" ORDER BY m.id")
    .rows(connection)?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id).collect();
    let items: Vec<ItemRow> =
        Statement::new("SELECT menu_id, screen_id, name, url FROM staff_menu_items WHERE menu_id")
            .among(&ids)
            .sql(" ORDER BY menu_id, position")
            .rows(connection)?;
    let mut of_menu: HashMap<i64, Vec<StaffMenuItem>> = HashMap::new();
    for row in items {
        let (screen_id, name) = (decode::optional_id(row.screen)?, decode::owned(row.name)?);
        // An item without a valid link is left out: it has no other use.
        let Some(url) = decode::link(Some(&row.url)) else { continue };
        of_menu.entry(row.menu).or_default().push(StaffMenuItem { screen_id, name, url });
    }
    let menu = |row: MenuRow| {
        Ok(StaffMenu {
            id: decode::id(row.id)?,
            name: decode::owned(row.name)?,
            items: of_menu.remove(&row.id).unwrap_or_default(),
            is_project: row.is_project.is_some(),
            is_own: row.is_own.is_some(),
            created_at: decode::moment(row.created_at),
        })
    };
    Ok(unreadable::rows("staff_menus", rows, |row| row.id, menu)?)
}

fn screens(connection: &mut AnyConnection) -> Result<Vec<MenuScreen>, Abort<StoreError>> {
    let rows: Vec<NamedRow> = Statement::new("SELECT id, name FROM screens ORDER BY id").rows(connection)?;
    let screen = |row: NamedRow| Ok(MenuScreen { id: decode::id(row.id)?, name: decode::owned(row.name)? });
    Ok(unreadable::rows("screens", rows, |row| row.id, screen)?)
}

fn permissions(
    connection: &mut AnyConnection,
    user: UserId,
) -> Result<Option<ProjectScoped<BTreeSet<Permission>>>, Abort<StoreError>> {
    let found: Option<UserRow> = Statement::new(
        "SELECT u.project_id, r.is_owner FROM users u JOIN roles r ON r.id = u.role_id AND r.project_id = u.project_id \
         WHERE u.kind = 'employee' AND u.deleted_at IS NULL AND u.id = ",
    )
    .value(user.get())
    .row(connection)
    .optional()?;
    let Some(found) = found else { return Ok(None) };
    let granted: BTreeSet<Permission> = if found.is_owner {
        Permission::all().collect()
    } else {
        let rows: Vec<NamedRow> = Statement::new(
            "SELECT p.id, p.name FROM users u JOIN role_permissions g ON g.role_id = u.role_id \
             AND g.project_id = u.project_id \
             JOIN permissions p ON p.id = g.permission_id WHERE u.id = ",
        )
        .value(user.get())
        .rows(connection)?;
        // Permissions defined by a project grant nothing in the service.
        rows.iter().filter_map(|row| row.name.parse().ok()).collect()
    };
    Ok(Some(ProjectScoped::new(decode::id(found.project)?, granted)))
}

fn insert(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    name: &Name,
    items: &StaffMenuItems,
) -> Result<StaffMenu, Abort<StaffMenuError>> {
    let project = stamp.project_id.get();
    let many = Statement::new("SELECT count(*) FROM staff_menus WHERE project_id = ").value(project);
    if many.scalar::<i64>(connection)? >= MAX_MENUS {
        return Err(Abort::refused(StaffMenuRefusal::Full));
    }
    let known = screens(connection).map_err(Abort::into_store)?;
    let unknown = items
        .items()
        .iter()
        .position(|item| item.screen_id.is_some_and(|id| !known.iter().any(|screen| screen.id == id)));
    if let Some(place) = unknown {
        return Err(Abort::refused(StaffMenuRefusal::UnknownScreen(place)));
    }
    let id: i64 = Statement::new("INSERT INTO staff_menus (project_id, name, created_at) VALUES ")
        .tuple([project.into(), name.as_str().into(), stamp.at.naive_utc().into()])
        .sql(" RETURNING id")
        .scalar(connection)
        .map_err(on_duplicate(StaffMenuRefusal::NameTaken))?;
    let rows = items.items().iter().zip(1_i64..).map(|(item, place)| {
        let screen = item.screen_id.map(kontor_kernel::ScreenId::get);
        [project.into(), id.into(), place.into(), screen.into(), item.name.as_str().into(), item.url.as_str().into()]
    });
    Statement::new("INSERT INTO staff_menu_items (project_id, menu_id, position, screen_id, name, url) VALUES ")
        .tuples(rows)
        .once()
        .run(connection)?;
    connection.note_created("menus", id);
    Ok(StaffMenu {
        id: decode::id(id)?,
        name: name.clone(),
        items: items.items().to_vec(),
        is_project: false,
        is_own: false,
        created_at: stamp.at,
    })
}

fn attach(
    connection: &mut AnyConnection,
    project: ProjectId,
    owner: MenuOwner,
    menu: Option<StaffMenuId>,
) -> Result<(), Abort<StaffMenuError>> {
    let (kind, number) = match owner {
        MenuOwner::Project => ("project", project.get()),
        MenuOwner::User(user) => ("user", user.get()),
    };
    // Customers may be shown the menu of the project.
    connection.invalidate(Topic::Storefront, project.get());
    Statement::new("DELETE FROM staff_menu_uses WHERE owner = ")
        .value(kind)
        .sql(" AND owner_id = ")
        .value(number)
        .sql(" AND project_id = ")
        .value(project.get())
        .run(connection)?;
    let Some(menu) = menu else { return Ok(()) };
    let used = Statement::new("INSERT INTO staff_menu_uses (owner, owner_id, project_id, menu_id) SELECT ")
        .value(kind)
        .sql(", ")
        .value(number)
        .sql(", project_id, id FROM staff_menus WHERE id = ")
        .value(menu.get())
        .sql(" AND project_id = ")
        .value(project.get())
        .sql(" ON CONFLICT (owner, owner_id, project_id) DO UPDATE SET menu_id = excluded.menu_id")
        .run(connection)?;
    if used == 0 { Err(Abort::refused(StaffMenuRefusal::UnknownMenu)) } else { Ok(()) }
}

#[async_trait]
impl StaffMenuStore for Database {
    async fn list(&self, project: ProjectId, user: UserId) -> Result<Vec<StaffMenu>, StoreError> {
        self.snapshot(move |connection| menus(connection, project, user.get())).await
    }

    async fn of_project(&self, project: ProjectId) -> Result<Option<StaffMenu>, StoreError> {
        let all = self.snapshot(move |connection| menus(connection, project, 0)).await?;
        Ok(all.into_iter().find(|menu| menu.is_project))
    }

    async fn screens(&self) -> Result<Vec<MenuScreen>, StoreError> {
        self.read(screens).await
    }

    async fn permissions_of(&self, user: UserId) -> Result<Option<ProjectScoped<BTreeSet<Permission>>>, StoreError> {
        self.snapshot(move |connection| permissions(connection, user)).await
    }

    async fn insert(&self, stamp: Stamp, name: Name, items: StaffMenuItems) -> Result<StaffMenu, StaffMenuError> {
        self.write(move |connection| insert(connection, &stamp, &name, &items)).await
    }

    async fn attach(
        &self,
        project: ProjectId,
        owner: MenuOwner,
        menu: Option<StaffMenuId>,
    ) -> Result<(), StaffMenuError> {
        self.write(move |connection| attach(connection, project, owner, menu)).await
    }
}
