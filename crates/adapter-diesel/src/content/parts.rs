//! Common parts of blocks, menu items and slides: records of an application, with an order or slugs. Blocks and menu
//! items are trees with codes and slugs.

use std::collections::HashSet;

use async_trait::async_trait;
use diesel::pg::Pg;
use diesel::result::QueryResult;
use diesel::sqlite::Sqlite;
use diesel::{OptionalExtension as _, QueryableByName};
use kontor_content::model::{ApplicationPart, Node, PartCode, PlaceChange, PlaceDraft, Slug, Tree, shifted};
use kontor_content::ports::{PartOrder, PartRepository};
use kontor_content::{PartError, PartRefusal};
use kontor_kernel::{
    AppScope, ApplicationId, Edit, Listing, MoveDirection, Name, Page, ProjectId, ProjectScoped, RecordError, Stamp,
    StoreError,
};

use crate::applications::owner;
use crate::database::{Abort, AnyConnection, Database, on_reference};
use crate::decode::{self, FromText};
use crate::listing::Source;
use crate::records::{self, StoredRecord};
use crate::statement::{Statement, by_place};
use crate::unreadable;

impl FromText for Slug {
    fn from_text(text: &str) -> Result<Self, StoreError> {
        Self::parse(text).map_err(StoreError::corrupt)
    }
}

/// Table with slugs and the scope in which they are unique.
pub(super) struct Slugs {
    /// Table name.
    pub table: &'static str,
    /// Column with the owner of the records.
    pub within: &'static str,
}

impl Slugs {
    fn of(&self, selected: &'static str, owner: i64) -> Statement {
        let Self { table, within } = self;
        Statement::new(format!("SELECT {selected} FROM {table} WHERE {within} = ")).value(owner).sql(" AND slug")
    }

    /// Returns the record with the slug.
    pub fn holder(&self, connection: &mut AnyConnection, owner: i64, slug: &Slug) -> QueryResult<Option<i64>> {
        self.of("id", owner).sql(" = ").value(slug.as_str()).scalar(connection).optional()
    }

    /// Returns this slug, or the slug with a free number appended. The caller prevents concurrent assignments.
    pub fn free(&self, connection: &mut AnyConnection, owner: i64, wanted: &Slug) -> QueryResult<Slug> {
        if self.holder(connection, owner, wanted)?.is_none() {
            return Ok(wanted.clone());
        }
        // `.` follows `-` in the sort order.
        let numbered = self.of("count(*)", owner).sql(" >= ").value(format!("{wanted}-"));
        let many: i64 = numbered.sql(" AND slug < ").value(format!("{wanted}.")).scalar(connection)?;
        let mut number = u32::try_from(many).unwrap_or_default().saturating_add(2);
        loop {
            let next = wanted.numbered(number);
            if self.holder(connection, owner, &next)?.is_none() {
                return Ok(next);
            }
            number = number.saturating_add(1);
        }
    }
}

/// Position of a new part.
pub(super) struct NewPosition {
    pub application: i64,
    pub parent: Option<i64>,
    pub code: i64,
    pub slug: String,
}

/// Behaviour of a part that depends on its table.
pub(super) trait StoredPart: StoredRecord + ApplicationPart {
    /// Source of the list for staff, with the parts as `r`.
    const SOURCE: Source;
    /// Selects parts `r`, each with its parent. The caller appends the condition on `r.id`.
    const SELECT: &'static str;

    /// Row type of the statement.
    type Row: QueryableByName<Pg> + QueryableByName<Sqlite> + 'static;

    /// Decodes a part, with its id and its project id.
    fn decode_row(row: Self::Row) -> (i64, i64, Result<Self, StoreError>);

    /// Stores a new part and returns its id. The application is locked.
    fn insert(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        application: ApplicationId,
        draft: &Self::Draft,
    ) -> Result<i64, Abort<PartError>>;

    /// Updates a part, whose row is locked.
    fn update(
        connection: &mut AnyConnection,
        stamp: &Stamp,
        before: &Self,
        change: &Self::Change,
    ) -> Result<usize, Abort<PartError>>;
}

/// Part that has a place in a tree.
pub(super) trait TreePart: StoredPart {
    /// Base of the slug for a name that has neither letters nor digits.
    const FALLBACK_SLUG: &'static str;

    /// Returns the id of the parent.
    fn parent(&self) -> Option<i64>;

    /// Returns the position and the name of a new part.
    fn drafted(draft: &Self::Draft) -> (&PlaceDraft<Self::Id>, &Name);

    /// Returns the requested new position.
    fn moved(change: &Self::Change) -> &PlaceChange<Self::Id>;
}

/// Loads these parts in this order, those that are left out, each with its parent.
pub(super) fn load_many<P: StoredPart, R>(
    connection: &mut AnyConnection,
    ids: &[i64],
) -> Result<Vec<ProjectScoped<P>>, Abort<R>> {
    let rows: Vec<P::Row> = Statement::new(P::SELECT).among(ids).rows(connection)?;
    Ok(records::in_order_of(ids, rows.into_iter().map(P::decode_row))?)
}

by_place! {
    struct BranchRow {
        id: i64,
        parent: Option<i64>,
    }
}

/// Locks the application; refuses one of another project. Every change of parts takes this lock first, so that
/// concurrent changes wait for each other only here.
fn lock_application(
    connection: &mut AnyConnection,
    stamp: &Stamp,
    application: ApplicationId,
) -> Result<(), Abort<PartError>> {
    let own = Statement::new("SELECT id FROM applications WHERE id = ").value(application.get());
    let own = own.sql(" AND project_id = ").value(stamp.project_id.get()).locked(connection, " FOR NO KEY UPDATE");
    if own.finds(connection)? { Ok(()) } else { Err(Abort::Refused(RecordError::NotFound)) }
}

fn tree<P: TreePart>(connection: &mut AnyConnection, application: ApplicationId) -> QueryResult<Tree> {
    let all = Statement::new("SELECT id, parent_id FROM ").sql(P::TABLE).sql(" WHERE application_id = ");
    let rows: Vec<BranchRow> = all.value(application.get()).rows(connection)?;
    Ok(Tree::new(rows.into_iter().map(|row| (row.id, row.parent))))
}

fn slugs<P: TreePart>() -> Slugs {
    Slugs { table: P::TABLE, within: "application_id" }
}

/// Refuses a code or a slug that another part of the application has.
fn require_free<P: TreePart>(
    connection: &mut AnyConnection,
    application: ApplicationId,
    own: Option<i64>,
    code: Option<PartCode>,
    slug: Option<&Slug>,
) -> Result<(), Abort<PartError>> {
    if let Some(code) = code {
        let holder = Statement::new("SELECT id FROM ").sql(P::TABLE).sql(" WHERE application_id = ");
        let holder = holder.value(application.get()).sql(" AND code = ").value(code.get());
        let holder: Option<i64> = holder.scalar(connection).optional()?;
        if holder.is_some_and(|id| Some(id) != own) {
            return Err(Abort::refused(PartRefusal::CodeTaken));
        }
    }
    if let Some(slug) = slug {
        let holder = slugs::<P>().holder(connection, application.get(), slug)?;
        if holder.is_some_and(|id| Some(id) != own) {
            return Err(Abort::refused(PartRefusal::SlugTaken));
        }
    }
    Ok(())
}

fn next_code<P: TreePart>(connection: &mut AnyConnection, application: ApplicationId) -> Result<i64, Abort<PartError>> {
    let last = Statement::new("SELECT coalesce(max(code), 0) FROM ").sql(P::TABLE).sql(" WHERE application_id = ");
    let last: i64 = last.value(application.get()).scalar(connection)?;
    PartCode::new(last + 1).map(PartCode::get).map_err(|_| Abort::refused(PartRefusal::CodeTaken))
}

/// Returns the checked position of a new part.
pub(super) fn new_position<P: TreePart>(
    connection: &mut AnyConnection,
    application: ApplicationId,
    draft: &P::Draft,
) -> Result<NewPosition, Abort<PartError>> {
    let (place, name) = P::drafted(draft);
    let parent = place.parent_id.map(Into::into);
    tree::<P>(connection, application)?
        .admit(parent, P::MAX_PER_APPLICATION)
        .map_err(|refusal| Abort::refused(PartRefusal::from(refusal)))?;
    require_free::<P>(connection, application, None, place.code, place.slug.as_ref())?;
    let code = match place.code {
        Some(code) => code.get(),
        None => next_code::<P>(connection, application)?,
    };
    let slug = match &place.slug {
        Some(slug) => slug.clone(),
        None => slugs::<P>().free(connection, application.get(), &Slug::of(name, P::FALLBACK_SLUG))?,
    };
    Ok(NewPosition { application: application.get(), parent, code, slug: slug.into() })
}

/// Refuses a new position that is not allowed.
pub(super) fn check_move<P: TreePart>(
    connection: &mut AnyConnection,
    before: &P,
    change: &P::Change,
) -> Result<(), Abort<PartError>> {
    let (application, place) = (before.application(), P::moved(change));
    if let Edit::Set(parent) = place.parent_id {
        let accepted = tree::<P>(connection, application)?.accept(before.number(), parent.map(Into::into));
        accepted.map_err(|refusal| Abort::refused(PartRefusal::from(refusal)))?;
    }
    let (code, slug) = (place.code.as_set().copied(), place.slug.as_set());
    require_free::<P>(connection, application, Some(before.number()), code, slug)
}

/// Refuses a part of another application.
fn require_within<P: StoredPart>(part: &P, application: ApplicationId) -> Result<(), Abort<PartError>> {
    if part.application() == application { Ok(()) } else { Err(Abort::Refused(RecordError::NotFound)) }
}

#[async_trait]
impl<P: StoredPart> PartRepository<P> for Database {
    async fn owner(&self, application: ApplicationId) -> Result<Option<ProjectScoped<()>>, StoreError> {
        owner(self, application).await
    }

    async fn page(
        &self,
        project: ProjectId,
        application: ApplicationId,
        listing: Listing,
    ) -> Result<Page<P>, StoreError> {
        self.snapshot(move |connection| {
            let own = Statement::new("r.project_id = ").value(project.get());
            let own = own.sql(" AND r.application_id = ").value(application.get());
            let found = P::SOURCE.page(connection, own, &listing)?;
            let parts = unreadable::records(connection, P::TABLE, &found.items, load_many::<P, StoreError>)?;
            Ok(found.with_items(records::within(parts, project)))
        })
        .await
    }

    async fn find(&self, id: P::Id) -> Result<Option<ProjectScoped<P>>, StoreError> {
        records::find(self, id.into()).await
    }

    async fn insert(&self, stamp: Stamp, application: ApplicationId, draft: P::Draft) -> Result<P, PartError> {
        self.write(move |connection| {
            lock_application(connection, &stamp, application)?;
            records::inserted(connection, &stamp, |connection| P::insert(connection, &stamp, application, &draft))
        })
        .await
    }

    async fn update(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        change: P::Change,
    ) -> Result<P, PartError> {
        let number = id.into();
        self.write(move |connection| {
            lock_application(connection, &stamp, application)?;
            records::changed(connection, &stamp, number, |connection, before: &P| {
                require_within(before, application)?;
                P::update(connection, &stamp, before, &change)
            })
        })
        .await
    }

    async fn delete(&self, stamp: Stamp, application: ApplicationId, id: P::Id) -> Result<(), PartError> {
        let number = id.into();
        self.write(move |connection| {
            lock_application(connection, &stamp, application)?;
            records::deleted(connection, &stamp, number, |connection, before: &P| {
                require_within(before, application)?;
                let gone = Statement::new("DELETE FROM ").sql(P::TABLE).sql(" WHERE project_id = ");
                let gone = gone.value(stamp.project_id.get()).sql(" AND id = ").value(number);
                // Only children refer to a part.
                gone.run(connection).map_err(on_reference(PartRefusal::HasChildren))
            })
        })
        .await
    }
}

/// Returns the selected part of an application with all its descendants, siblings ordered by code. Uses one statement,
/// which stays prepared, for any number of parts.
pub(super) fn with_descendants<P: TreePart>(
    connection: &mut AnyConnection,
    app: AppScope,
    root: Statement,
) -> Result<Option<Node<P>>, Abort<StoreError>> {
    let table = P::TABLE;
    let found = Statement::new("WITH RECURSIVE below (id, level) AS (SELECT id, 1 FROM ")
        .sql(table)
        .sql(" WHERE project_id = ")
        .value(app.project_id.get())
        .sql(" AND application_id = ")
        .value(app.application_id.get())
        .sql(" AND ")
        .then(root)
        .sql(" UNION ALL SELECT n.id, b.level + 1 FROM ")
        .sql(table)
        .sql(" n JOIN below b ON n.parent_id = b.id WHERE n.project_id = ")
        .value(app.project_id.get())
        .sql(" AND b.level < ")
        .value(i64::try_from(Tree::MAX_DEPTH).unwrap_or(i64::MAX))
        .sql(") ")
        .sql(P::SELECT)
        .sql(" IN (SELECT id FROM below) ORDER BY r.code, r.id");
    let rows: Vec<P::Row> = found.rows(connection)?;
    let decoded = rows.into_iter().map(P::decode_row);
    let found = unreadable::rows(table, decoded, |row| row.0, |(_, project, part)| records::of_project(project, part))?;
    let parts = records::within(found, app.project_id);
    let known: HashSet<i64> = parts.iter().map(P::number).collect();
    // All other parts were reached through their parent.
    let is_top = |part: &P| part.parent().is_none_or(|parent| !known.contains(&parent));
    let top = parts.iter().find(|part| is_top(part)).map(P::number);
    Ok(top.and_then(|top| Node::nested(parts.into_iter().map(|part| (part.number(), part.parent(), part)), top)))
}

/// Decodes the parent of a part from its row.
pub(super) fn parent<Id: TryFrom<i64, Error = kontor_kernel::InvalidId>>(
    id: Option<i64>,
    name: Option<String>,
) -> Result<Option<(Id, Name)>, StoreError> {
    id.zip(name).map(|(id, name)| Ok((decode::id(id)?, decode::owned(name)?))).transpose()
}

/// Part with a position among its siblings.
pub(super) trait OrderedPart: StoredPart {
    /// Returns the part of a statement that selects the part and its siblings: ` FROM ... WHERE ...`.
    fn siblings(&self, stamp: &Stamp) -> Statement;
}

/// Returns the position after all of these siblings.
pub(super) fn next_position(connection: &mut AnyConnection, siblings: Statement) -> QueryResult<i64> {
    let last = Statement::new("SELECT coalesce(max(position), 0)").then(siblings);
    Ok(last.scalar::<i64>(connection)? + 1)
}

/// Assigns positions to siblings in this order, where they differ.
fn arrange<P: StoredPart>(connection: &mut AnyConnection, stamp: &Stamp, order: &[i64]) -> QueryResult<()> {
    for (id, place) in order.iter().zip(1_i64..) {
        Statement::new("UPDATE ")
            .sql(P::TABLE)
            .sql(" SET version = version + 1, position = ")
            .value(place)
            .sql(", updated_at = ")
            .value(stamp.at.naive_utc())
            .sql(" WHERE project_id = ")
            .value(stamp.project_id.get())
            .sql(" AND id = ")
            .value(*id)
            .sql(" AND position <> ")
            .value(place)
            .run(connection)?;
    }
    Ok(())
}

#[async_trait]
impl<P: OrderedPart> PartOrder<P> for Database {
    async fn shift(
        &self,
        stamp: Stamp,
        application: ApplicationId,
        id: P::Id,
        shift: MoveDirection,
    ) -> Result<P, PartError> {
        let number: i64 = id.into();
        self.write(move |connection| {
            lock_application(connection, &stamp, application)?;
            records::changed(connection, &stamp, number, |connection, before: &P| {
                require_within(before, application)?;
                let order = Statement::new("SELECT id").then(before.siblings(&stamp)).sql(" ORDER BY position, id");
                let order = shifted(order.scalars(connection)?, number, shift);
                arrange::<P>(connection, &stamp, &order)?;
                Ok(1)
            })
        })
        .await
    }
}
