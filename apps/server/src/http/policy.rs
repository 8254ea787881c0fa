//! What a row of the table of policies says: an endpoint, and what it takes to call it.

use std::sync::Arc;

use actix_web::http::{Method, StatusCode};
use kontor_adapter_diesel::VersionedRecord;
use kontor_kernel::{Permission, RateRule};

use super::traffic::Traffic;

/// What a caller must prove before the handler runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing. What the call carries (a password, a signature, the secret of a request) is the handler's business.
    Public,
    /// An App Token: header `Token`.
    App,
    /// An App Token. A customer's Bearer may come along and make the answer his; one that names no customer of the
    /// application is passed over, so that a token that has ended does not close a shop.
    Visitor,
    /// An App Token and a customer's Bearer together.
    Customer,
    /// A customer's Bearer; an App Token may be left out, but one that is sent must be right.
    CustomerAlone,
    /// A Bearer of an employee or agent, with all of these permissions.
    Staff(&'static [Permission]),
    /// Client credentials of a backend, well formed; the handler has them proved together with what it looks up.
    Backend,
}

/// How far a write may be carried out under a key that was used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rerun {
    /// Not at all: its key is looked for first.
    Never,
    /// Until its first commit, which stores the key and so finds it: before that it only reads.
    UntilCommit,
    /// To its end, where the answer is lost: its body names what it does, and it answers alike.
    Whole,
}

/// One row: an endpoint and what it takes to call it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The method.
    pub method: Method,
    /// The template of the path, as the route declares it.
    pub path: &'static str,
    /// What a caller must prove.
    pub access: Access,
    /// A limit by address that counts before the caller proves anything, so that who fails to counts, too.
    pub limited: Option<RateRule>,
    /// Whether its answers may be remembered: they are the same for every caller with this App Token, and depend on what
    /// the project shows alone.
    pub server_cached: bool,
    /// Whether a refused App Token is told in the structured body, as the other `401` of the endpoint.
    pub structured: bool,
    /// The `GET` that shows what a write did, where it does not follow from the path.
    pub told_by: Option<&'static str>,
    /// How far it may be carried out under a key that was used before.
    pub rerun: Rerun,
    /// `true` if the handler reads the body as it comes: it holds a file.
    pub streamed: bool,
    /// The record that its path names, or its caller is, where that has a version: answers carry it as `ETag`, and writes
    /// heed `If-Match`.
    pub versioned: Option<VersionedRecord>,
}

impl Policy {
    /// Every call counts toward its address, whatever it proves.
    #[must_use]
    pub const fn limited(mut self, rule: RateRule) -> Self {
        self.limited = Some(rule);
        self
    }

    /// Answers may be remembered.
    #[must_use]
    pub const fn server_cached(mut self) -> Self {
        self.server_cached = true;
        self
    }

    /// What it does is shown by this endpoint, in the form of its answer; what an answer may leave out may be missing.
    #[must_use]
    pub const fn told_by(mut self, path: &'static str) -> Self {
        self.told_by = Some(path);
        self
    }

    /// Carried out again it does nothing and answers alike: its body names what it does.
    #[must_use]
    pub const fn repeats(mut self) -> Self {
        self.rerun = Rerun::Whole;
        self
    }

    /// Until its first commit, which stores its key, it only reads: it counts nothing, and asks nobody outside.
    #[must_use]
    pub const fn commits_first(mut self) -> Self {
        self.rerun = Rerun::UntilCommit;
        self
    }

    /// Its body holds a file, which the handler writes to disk as it comes.
    #[must_use]
    pub const fn streamed(mut self) -> Self {
        self.streamed = true;
        self
    }

    /// It shows, makes, changes or deletes a record that has a version.
    #[must_use]
    pub const fn versioned(mut self, record: VersionedRecord) -> Self {
        self.versioned = Some(record);
        self
    }

    /// An endpoint whose every `401` has the structured body.
    #[must_use]
    pub const fn structured(mut self) -> Self {
        self.structured = true;
        self
    }
}

macro_rules! rows {
    ($($name:ident => $method:ident,)+) => {$(
        #[doc = concat!("A row of a `", stringify!($method), "` endpoint.")]
        pub const fn $name(path: &'static str, access: Access) -> Policy {
            Policy {
                method: Method::$method,
                path,
                access,
                limited: None,
                server_cached: false,
                structured: false,
                told_by: None,
                rerun: Rerun::Never,
                streamed: false,
                versioned: None,
            }
        }
    )+};
}

rows! {
    get => GET,
    post => POST,
    put => PUT,
    patch => PATCH,
    delete => DELETE,
}

/// How what a write did is told anew.
#[derive(Clone)]
pub enum Telling {
    /// An endpoint shows the record, in the same form as the write.
    Record {
        /// The endpoint.
        by: Arc<Endpoint>,
        /// The status of the write when it succeeds.
        status: StatusCode,
    },
    /// The record is gone, and a message says so.
    Gone,
    /// It is carried out again, which does nothing and answers alike.
    Again,
}

/// A row of the policies, and what is counted of its requests.
pub struct Endpoint {
    /// The row.
    pub policy: &'static Policy,
    /// The counters.
    pub traffic: Traffic,
    /// Where what it writes can be read in the form of its own answer.
    pub telling: Option<Telling>,
}

impl Endpoint {
    /// Of a row that nobody has called yet.
    pub fn of(policy: &'static Policy, telling: Option<Telling>) -> Arc<Self> {
        Arc::new(Self { policy, traffic: Traffic::new(policy.method.as_str(), policy.path), telling })
    }
}
