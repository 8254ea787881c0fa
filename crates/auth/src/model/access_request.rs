use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use kontor_kernel::{Email, Name, Permission, ProjectId, Prose, TextError, UserId};
use strum::{EnumString, IntoStaticStr, VariantArray};
use uuid::Uuid;

use super::{Login, NewAgent, within_reach};
use crate::{AccessRequestError, AccessRequestRefusal};

/// How long a request for access can be answered, and its answer fetched.
pub const ACCESS_REQUEST_LIFETIME: TimeDelta = TimeDelta::minutes(30);

/// Why access is asked for or declined: 1 to 1000 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(Prose);

impl Reason {
    /// The longest text, in characters.
    pub const MAX: usize = 1000;

    /// Checks.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        let prose = Prose::parse(text)?;
        if prose.chars().count() > Self::MAX { Err(TextError::TooLong(Self::MAX)) } else { Ok(Self(prose)) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a description.
    pub fn into_prose(self) -> Prose {
        self.0
    }
}

/// How far a request has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Nobody decided yet.
    Pending,
    /// An employee agreed, and the agent was made.
    Approved(UserId),
    /// An employee refused, perhaps with a reason.
    Declined(Option<Reason>),
    /// The token was fetched.
    Consumed(UserId),
}

/// What the asker is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, VariantArray, IntoStaticStr, EnumString)]
#[strum(serialize_all = "snake_case")]
pub enum RequestStatus {
    /// Nobody decided yet.
    Pending,
    /// The token can be fetched.
    Approved,
    /// Refused.
    Declined,
    /// The token was fetched.
    Consumed,
    /// Too late, for deciding or for fetching.
    Expired,
}

/// A program without credentials asks to work in a project. Which one, the first employee decides who deals with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRequest {
    /// How it is addressed; cannot be guessed.
    pub public_id: Uuid,
    /// The project whose employee dealt with it first.
    pub project_id: Option<ProjectId>,
    /// How the program calls itself.
    pub name: Name,
    /// What it says it wants to do.
    pub reason: Reason,
    /// What it asked for.
    pub requested: BTreeSet<Permission>,
    /// What is left of that after the reviews.
    pub permissions: BTreeSet<Permission>,
    /// How far it has come.
    pub stage: Stage,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it ends, unless the token was fetched.
    pub expires_at: DateTime<Utc>,
}

impl AccessRequest {
    /// What the asker is told now.
    pub fn status(&self, now: DateTime<Utc>) -> RequestStatus {
        match self.stage {
            Stage::Declined(_) => RequestStatus::Declined,
            Stage::Consumed(_) => RequestStatus::Consumed,
            Stage::Pending | Stage::Approved(_) if self.expires_at <= now => RequestStatus::Expired,
            Stage::Pending => RequestStatus::Pending,
            Stage::Approved(_) => RequestStatus::Approved,
        }
    }

    /// Whether employees of a project may see it: nobody else's employee dealt with it.
    pub fn is_open_to(&self, project: ProjectId) -> bool {
        self.project_id.is_none_or(|owner| owner == project)
    }

    /// Whether an employee of a project may decide now.
    pub fn require_pending(&self, project: ProjectId, now: DateTime<Utc>) -> Result<(), AccessRequestError> {
        if !self.is_open_to(project) {
            return Err(AccessRequestError::NotFound);
        }
        match self.status(now) {
            RequestStatus::Pending => Ok(()),
            status => Err(AccessRequestRefusal::State(status).into()),
        }
    }

    /// The given part of what is asked for, or all of it. Reviews take away and never add.
    pub fn narrowed(&self, part: Option<&BTreeSet<Permission>>) -> Result<BTreeSet<Permission>, AccessRequestError> {
        let Some(part) = part else { return Ok(self.permissions.clone()) };
        let foreign: BTreeSet<Permission> = part.difference(&self.permissions).copied().collect();
        if foreign.is_empty() { Ok(part.clone()) } else { Err(AccessRequestRefusal::NotRequested(foreign).into()) }
    }

    /// The agent that an approval makes: it has what is left of the request, and nothing the employee lacks.
    pub fn approved(&self, approval: &Approval) -> Result<NewAgent, AccessRequestError> {
        self.require_pending(approval.project_id, approval.at)?;
        let permissions = self.narrowed(approval.permissions.as_ref())?;
        within_reach(&approval.held, &permissions).map_err(AccessRequestRefusal::from)?;
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

    /// The agent whose token can be fetched now.
    pub fn consumable(&self, now: DateTime<Utc>) -> Result<UserId, AccessRequestError> {
        match (&self.stage, self.status(now)) {
            (Stage::Approved(agent), RequestStatus::Approved) => Ok(*agent),
            (_, status) => Err(AccessRequestRefusal::State(status).into()),
        }
    }
}

/// What a program asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRequestDraft {
    /// How it calls itself.
    pub name: Name,
    /// What it wants to do.
    pub reason: Reason,
    /// What it needs for that.
    pub permissions: BTreeSet<Permission>,
}

/// All that is written of a new request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccessRequest {
    /// How it is addressed.
    pub public_id: Uuid,
    /// Fingerprint of the secret that the asker proves himself with.
    pub fingerprint: String,
    /// What is asked for.
    pub details: AccessRequestDraft,
    /// Now.
    pub created_at: DateTime<Utc>,
    /// When it ends.
    pub expires_at: DateTime<Utc>,
}

/// A stored request with what its secret is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAccessRequest {
    /// The request.
    pub request: AccessRequest,
    /// Fingerprint of the secret.
    pub fingerprint: String,
}

/// An employee takes a request on for his project, and perhaps narrows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The request.
    pub public_id: Uuid,
    /// The employee's project.
    pub project_id: ProjectId,
    /// The employee.
    pub reviewer: UserId,
    /// What is left of the permissions; `None` leaves them.
    pub permissions: Option<BTreeSet<Permission>>,
    /// Now.
    pub at: DateTime<Utc>,
}

/// An employee agrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    /// The request.
    pub public_id: Uuid,
    /// The employee's project.
    pub project_id: ProjectId,
    /// The employee.
    pub reviewer: UserId,
    /// What the employee may do himself.
    pub held: BTreeSet<Permission>,
    /// What the agent gets; `None` for all that is left of the request.
    pub permissions: Option<BTreeSet<Permission>>,
    /// What the agent is called; `None` for the name it gave itself.
    pub name: Option<Name>,
    /// A login that nobody can sign in with.
    pub login: Login,
    /// An address that takes no mail.
    pub email: Email,
    /// Now.
    pub at: DateTime<Utc>,
}

/// An employee refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The request.
    pub public_id: Uuid,
    /// The employee's project.
    pub project_id: ProjectId,
    /// The employee.
    pub reviewer: UserId,
    /// What the asker is told.
    pub reason: Option<Reason>,
    /// Now.
    pub at: DateTime<Utc>,
}

/// The asker fetches his token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumption {
    /// The request.
    pub public_id: Uuid,
    /// Fingerprint of the secret half of the token.
    pub fingerprint: String,
    /// Now.
    pub at: DateTime<Utc>,
    /// The end of the token's validity.
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
    fn an_employee_approves_no_more_than_he_has() {
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
        assert!(matches!(wider, Err(AccessRequestError::Refused(AccessRequestRefusal::BeyondReach(_)))));
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
