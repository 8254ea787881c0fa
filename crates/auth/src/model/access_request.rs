use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Email, Name, Permission, ProjectId, Prose, TextError, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{Login, NewAgent, check_held};
use crate::{AccessRequestError, AccessRequestRefusal};

/// Period in which an access request can be decided and its token fetched.
pub const ACCESS_REQUEST_LIFETIME: TimeDelta = TimeDelta::minutes(30);

/// Reason for requesting or declining access: 1 to 1000 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(Prose);

impl Reason {
    /// Maximum length, in characters.
    pub const MAX: usize = 1000;

    /// Checks the text.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let prose = Prose::parse(text)?;
        if prose.chars().count() > Self::MAX { Err(TextError::TooLong(Self::MAX)) } else { Ok(Self(prose)) }
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text as a description.
    pub fn into_prose(self) -> Prose {
        self.0
    }
}

/// Stage of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Not decided yet.
    Pending,
    /// Approved, and the agent was created.
    Approved(UserId),
    /// Declined, with an optional reason.
    Declined(Option<Reason>),
    /// The token was fetched.
    Consumed(UserId),
}

/// Status reported to the requester.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RequestStatus {
    /// Not decided yet.
    Pending,
    /// The token can be fetched.
    Approved,
    /// Declined.
    Declined,
    /// The token was fetched.
    Consumed,
    /// Expired before it was decided or the token was fetched.
    Expired,
}

/// Access request of a program without credentials. The first employee who handles it determines the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRequest {
    /// Public identifier; cannot be guessed.
    pub public_id: Uuid,
    /// Project of the employee who handled it first.
    pub project_id: Option<ProjectId>,
    /// Name chosen by the program.
    pub name: Name,
    /// Purpose stated by the program.
    pub reason: Reason,
    /// Requested permissions.
    pub requested: BTreeSet<Permission>,
    /// Permissions that remain after the reviews.
    pub permissions: BTreeSet<Permission>,
    /// Stage.
    pub stage: Stage,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Expiry time, unless the token was fetched.
    pub expires_at: DateTime<Utc>,
}

impl AccessRequest {
    /// Returns the status reported to the requester.
    pub fn status(&self, now: DateTime<Utc>) -> RequestStatus {
        match self.stage {
            Stage::Declined(_) => RequestStatus::Declined,
            Stage::Consumed(_) => RequestStatus::Consumed,
            Stage::Pending | Stage::Approved(_) if self.expires_at <= now => RequestStatus::Expired,
            Stage::Pending => RequestStatus::Pending,
            Stage::Approved(_) => RequestStatus::Approved,
        }
    }

    /// Returns `true` if employees of the project may see it: no other project has handled it.
    pub fn is_open_to(&self, project: ProjectId) -> bool {
        self.project_id.is_none_or(|owner| owner == project)
    }

    /// Returns an error unless an employee of the project may decide now.
    pub fn require_pending(&self, project: ProjectId, now: DateTime<Utc>) -> Result<(), AccessRequestError> {
        if !self.is_open_to(project) {
            return Err(AccessRequestError::NotFound);
        }
        match self.status(now) {
            RequestStatus::Pending => Ok(()),
            status => Err(AccessRequestRefusal::State(status).into()),
        }
    }

    /// Returns the given part of the remaining permissions, or all of them. Reviews remove permissions and never add
    /// any.
    pub fn narrowed(&self, part: Option<&BTreeSet<Permission>>) -> Result<BTreeSet<Permission>, AccessRequestError> {
        let Some(part) = part else { return Ok(self.permissions.clone()) };
        let foreign: BTreeSet<Permission> = part.difference(&self.permissions).copied().collect();
        if foreign.is_empty() { Ok(part.clone()) } else { Err(AccessRequestRefusal::NotRequested(foreign).into()) }
    }

    /// Returns the agent that an approval creates. It has the remaining permissions of the request and none that the
    /// employee lacks.
    pub fn approved(&self, approval: &Approval) -> Result<NewAgent, AccessRequestError> {
        self.require_pending(approval.project_id, approval.at)?;
        let permissions = self.narrowed(approval.permissions.as_ref())?;
        check_held(&approval.held, &permissions).map_err(AccessRequestRefusal::from)?;
        Ok(NewAgent {
            project_id: approval.project_id,
            creator: approval.reviewer,
            login: approval.login.clone(),
            email: approval.email.clone(),
            name: approval.name.as_ref().unwrap_or(&self.name).clone(),
            description: Some(self.reason.clone().into_prose()),
            permissions,
            is_banned: false,
            at: approval.at,
        })
    }

    /// Returns the agent whose token can be fetched now.
    pub fn consumable(&self, now: DateTime<Utc>) -> Result<UserId, AccessRequestError> {
        match (&self.stage, self.status(now)) {
            (Stage::Approved(agent), RequestStatus::Approved) => Ok(*agent),
            (_, status) => Err(AccessRequestRefusal::State(status).into()),
        }
    }
}

/// Content of an access request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRequestDraft {
    /// Name chosen by the program.
    pub name: Name,
    /// Purpose stated by the program.
    pub reason: Reason,
    /// Requested permissions.
    pub permissions: BTreeSet<Permission>,
}

/// All stored fields of a new access request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccessRequest {
    /// Public identifier.
    pub public_id: Uuid,
    /// Fingerprint of the secret that authenticates the requester.
    pub fingerprint: String,
    /// Content of the request.
    pub details: AccessRequestDraft,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
    /// Expiry time.
    pub expires_at: DateTime<Utc>,
}

/// Stored request with the fingerprint of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccessRequest {
    /// Access request.
    pub request: AccessRequest,
    /// Fingerprint of the secret.
    pub fingerprint: String,
}

/// Review: an employee assigns the request to their project and optionally narrows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// Access request.
    pub public_id: Uuid,
    /// Project of the employee.
    pub project_id: ProjectId,
    /// Employee.
    pub reviewer: UserId,
    /// Remaining permissions; `None` keeps them.
    pub permissions: Option<BTreeSet<Permission>>,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// Approval by an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// Access request.
    pub public_id: Uuid,
    /// Project of the employee.
    pub project_id: ProjectId,
    /// Employee.
    pub reviewer: UserId,
    /// Permissions that the employee holds.
    pub held: BTreeSet<Permission>,
    /// Permissions of the agent; `None` for all that remain in the request.
    pub permissions: Option<BTreeSet<Permission>>,
    /// Name of the agent; `None` for the name in the request.
    pub name: Option<Name>,
    /// Login that cannot be used to sign in.
    pub login: Login,
    /// E-mail address that accepts no mail.
    pub email: Email,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// Decline by an employee.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Access request.
    pub public_id: Uuid,
    /// Project of the employee.
    pub project_id: ProjectId,
    /// Employee.
    pub reviewer: UserId,
    /// Reason reported to the requester.
    pub reason: Option<Reason>,
    /// Time of the change.
    pub at: DateTime<Utc>,
}

/// Fetching of the token by the requester.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumption {
    /// Access request.
    pub public_id: Uuid,
    /// Fingerprint of the secret half of the token.
    pub fingerprint: String,
    /// Time of the change.
    pub at: DateTime<Utc>,
    /// End of validity of the token.
    pub expires_at: DateTime<Utc>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use kontor_kernel::{Resource, Word};

    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    fn request(stage: Stage) -> AccessRequest {
        let asked = BTreeSet::from([Permission::view(Resource::Orders), Permission::edit(Resource::Orders)]);
        AccessRequest {
            public_id: Uuid::nil(),
            project_id: None,
            name: Name::parse("Bot").unwrap(),
            reason: Reason::parse("to help").unwrap(),
            requested: asked.clone(),
            permissions: asked,
            stage,
            created_at: NOW,
            expires_at: NOW + ACCESS_REQUEST_LIFETIME,
        }
    }

    fn project(id: i64) -> ProjectId {
        ProjectId::new(id).unwrap()
    }

    #[test]
    fn only_what_is_undecided_or_unfetched_expires() {
        let agent = UserId::new(4).unwrap();
        let late = NOW + ACCESS_REQUEST_LIFETIME;
        let early = late - TimeDelta::seconds(1);
        for (stage, before, after) in [
            (Stage::Pending, "pending", "expired"),
            (Stage::Approved(agent), "approved", "expired"),
            (Stage::Declined(None), "declined", "declined"),
            (Stage::Consumed(agent), "consumed", "consumed"),
        ] {
            let request = request(stage);
            assert_eq!(request.status(early).word(), before);
            assert_eq!(request.status(late).word(), after);
            assert_eq!(request.consumable(early).is_ok(), before == "approved");
            assert!(request.consumable(late).is_err());
            assert_eq!(request.require_pending(project(1), early).is_ok(), before == "pending");
        }
    }

    #[test]
    fn a_request_belongs_to_the_project_that_dealt_with_it_first() {
        let taken = AccessRequest { project_id: Some(project(2)), ..request(Stage::Pending) };
        assert!(taken.require_pending(project(2), NOW).is_ok());
        assert!(matches!(taken.require_pending(project(1), NOW), Err(AccessRequestError::NotFound)));
    }

    #[test]
    fn a_review_takes_away_and_never_adds() {
        let (view, brands) = (Permission::view(Resource::Orders), Permission::view(Resource::Brands));
        let request = request(Stage::Pending);
        assert_eq!(request.narrowed(None).unwrap(), request.permissions);
        assert_eq!(request.narrowed(Some(&[view].into())).unwrap(), [view].into());
        let wider = request.narrowed(Some(&[view, brands].into()));
        assert!(
            matches!(wider, Err(AccessRequestError::Refused(AccessRequestRefusal::NotRequested(foreign))) if foreign == [brands].into())
        );
    }

    #[test]
    fn an_approval_grants_only_held_permissions() {
        let view = Permission::view(Resource::Orders);
        let approval = |held: &[Permission], part: Option<&[Permission]>| Approval {
            public_id: Uuid::nil(),
            project_id: project(1),
            reviewer: UserId::new(1).unwrap(),
            held: held.iter().copied().collect(),
            permissions: part.map(|part| part.iter().copied().collect()),
            name: None,
            login: Login::parse("agent").unwrap(),
            email: Email::parse("agent@agents.invalid").unwrap(),
            at: NOW,
        };
        let request = request(Stage::Pending);
        let wider = request.approved(&approval(&[view], None));
        assert!(matches!(wider, Err(AccessRequestError::Refused(AccessRequestRefusal::PermissionsNotHeld(_)))));
        let agent = request.approved(&approval(&[view], Some(&[view]))).unwrap();
        assert_eq!(
            (agent.permissions, agent.name, agent.description.unwrap().as_str()),
            ([view].into(), request.name.clone(), "to help")
        );
        let all: Vec<Permission> = Permission::all().collect();
        let named = Approval { name: Some(Name::parse("Helper").unwrap()), ..approval(&all, None) };
        let agent = request.approved(&named).unwrap();
        assert_eq!((agent.permissions, agent.name.as_str()), (request.permissions.clone(), "Helper"));
    }

    #[test]
    fn a_reason_is_short() {
        assert!(Reason::parse(&"ё".repeat(1000)).is_ok() && Reason::parse("a\nb").is_ok());
        assert_eq!(Reason::parse(&"ё".repeat(1001)), Err(TextError::TooLong(1000)));
        assert_eq!(Reason::parse(" "), Err(TextError::Empty));
    }
}
