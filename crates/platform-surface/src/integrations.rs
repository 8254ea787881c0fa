//! Integrations, and the records shared by their users.

use actix_web::get;
use chrono::{DateTime, Utc};
use deserr::Deserr;
use kontor_kernel::Word;
use kontor_organization::IntegrationService;
use kontor_organization::model::{Integration, IntegrationParameter, ParameterDraft, UsedIntegration};
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::handlers;
use kontor_web::envelope::{list, one};
use kontor_web::wire::{self, InputErrors};

handlers! {
    IntegrationService, "Dictionaries";

    /// List available integrations
    list "/api/integrations" as list_integrations = all() -> IntegrationList;

    /// Get an integration
    read "/api/integrations/{integrationId}" as show_integration = one(id) -> IntegrationResponse;
}

#[derive(Serialize, ToSchema)]
struct IntegrationTypeRecord {
    id: i64,
    name: String,
}

#[derive(Serialize, ToSchema)]
struct IntegrationRecord {
    id: i64,
    name: String,
    /// Entry of `GET /api/integration_types`.
    integration_type: IntegrationTypeRecord,
    /// Kind of record that uses the integration: `warehouse` or `bank_requisite`.
    owner: &'static str,
}

impl From<Integration> for IntegrationRecord {
    fn from(integration: Integration) -> Self {
        let (id, name) = integration.kind;
        Self {
            id: integration.id.get(),
            name: integration.name.into(),
            integration_type: IntegrationTypeRecord { id, name: name.into() },
            owner: integration.owner.word(),
        }
    }
}

list!(IntegrationList { integrations: [IntegrationRecord], integrations_count });
one!(IntegrationResponse { integration: IntegrationRecord });

/// Integration as used by a record.
#[derive(Serialize, ToSchema)]
struct UsedIntegrationRecord {
    #[serde(flatten)]
    integration: IntegrationRecord,
    /// `true` if the record uses the integration.
    is_active: bool,
    /// Time when the use was last changed. `null` if it never was.
    updated_at: Option<DateTime<Utc>>,
}

impl From<UsedIntegration> for UsedIntegrationRecord {
    fn from(used: UsedIntegration) -> Self {
        Self { integration: used.integration.into(), is_active: used.is_active, updated_at: used.updated_at }
    }
}

list!(
    /// Integrations available for a record.
    pub(super) UsedIntegrationList { integrations: [UsedIntegrationRecord], integrations_count }
);
one!(
    /// Integration as used by a record.
    pub(super) UsedIntegrationResponse { integration: UsedIntegrationRecord }
);

/// New state of an integration of a record.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct IntegrationState {
    /// `true` enables the integration, `false` disables it.
    pub is_active: wire::Flag,
}

#[derive(Serialize, ToSchema)]
struct ParameterRecord {
    id: i64,
    key: String,
    /// Value of the parameter. Secret values are returned as `********`.
    value: String,
    is_secret: bool,
    created_at: DateTime<Utc>,
}

impl From<IntegrationParameter> for ParameterRecord {
    fn from(parameter: IntegrationParameter) -> Self {
        Self {
            id: parameter.id.get(),
            is_secret: parameter.value.is_none(),
            value: parameter.shown().to_owned(),
            key: parameter.key.into(),
            created_at: parameter.created_at,
        }
    }
}

list!(
    /// Parameters of an integration.
    pub(super) ParameterList { parameters: [ParameterRecord], parameters_count }
);
one!(
    /// Parameter of an integration.
    pub(super) ParameterResponse { parameter: ParameterRecord }
);

/// Parameter to add.
#[derive(Deserr, ToSchema)]
#[deserr(error = InputErrors)]
pub(super) struct NewParameter {
    key: wire::Line100,
    value: wire::Line2000,
    /// `true` if the value must never be shown again. `false` by default.
    #[deserr(default)]
    is_secret: Option<wire::Flag>,
}

impl From<NewParameter> for ParameterDraft {
    fn from(new: NewParameter) -> Self {
        Self { key: new.key.0, value: new.value.0, is_secret: new.is_secret.is_none_or(|flag| flag.0) }
    }
}
