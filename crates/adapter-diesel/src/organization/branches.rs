use async_trait::async_trait;
use chrono::{DateTime, NaiveDateTime, Utc};
use diesel::prelude::*;
use kontor_kernel::{ProjectId, StoreError};
use kontor_organization::model::{Branch, BranchDraft};
use kontor_organization::ports::BranchRepository;

use crate::database::idempotency::made;
use crate::database::{Abort, Database};
use crate::schema::branches;
use crate::stored;

#[derive(Queryable, Selectable)]
#[diesel(table_name = branches)]
struct BranchRow {
    id: i64,
    name: String,
    inn: Option<String>,
    kpp: Option<String>,
    address: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<BranchRow> for Branch {
    type Error = StoreError;

    fn try_from(row: BranchRow) -> Result<Self, StoreError> {
        Ok(Self {
            id: stored::id(row.id)?,
            details: BranchDraft {
                name: stored::text(&row.name)?,
                inn: stored::optional_text(row.inn.as_deref())?,
                kpp: stored::optional_text(row.kpp.as_deref())?,
                address: stored::optional_text(row.address.as_deref())?,
                phone: stored::optional_text(row.phone.as_deref())?,
                email: stored::optional_text(row.email.as_deref())?,
            },
            created_at: stored::moment(row.created_at),
            updated_at: stored::moment(row.updated_at),
        })
    }
}

#[async_trait]
impl BranchRepository for Database {
    async fn list(&self, project: ProjectId) -> Result<Vec<Branch>, StoreError> {
        self.read(move |connection| {
            let rows: Vec<BranchRow> = branches::table
                .filter(branches::project_id.eq(project.get()))
                .order(branches::id)
                .select(BranchRow::as_select())
                .load(connection)?;
            rows.into_iter().map(|row| row.try_into().map_err(Abort::Store)).collect()
        })
        .await
    }

    async fn insert(&self, project: ProjectId, draft: BranchDraft, at: DateTime<Utc>) -> Result<Branch, StoreError> {
        self.write(move |connection| {
            let id: i64 = diesel::insert_into(branches::table)
                .values((
                    branches::project_id.eq(project.get()),
                    branches::name.eq(draft.name.as_str()),
                    branches::inn.eq(draft.inn.as_deref()),
                    branches::kpp.eq(draft.kpp.as_deref()),
                    branches::address.eq(draft.address.as_deref()),
                    branches::phone.eq(draft.phone.as_deref()),
                    branches::email.eq(draft.email.as_deref()),
                    branches::created_at.eq(at.naive_utc()),
                    branches::updated_at.eq(at.naive_utc()),
                ))
                .returning(branches::id)
                .get_result(connection)?;
            made("branches", id);
            Ok(Branch { id: stored::id(id)?, details: draft.clone(), created_at: at, updated_at: at })
        })
        .await
    }
}
