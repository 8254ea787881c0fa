//! Response cache of the storefront.
//!
//! **Eligible**: responses with status 200 of endpoints that the policies mark, requested with an App Token and without
//! a Bearer token. The cache key is App Token, path and query string.
//!
//! **Validity**: an entry is valid until published data of the project changes. A change committed by this process
//! invalidates it at once, a change by another process within one second; see `kontor_adapter_diesel::CacheVersions`.
//! An entry also ends when a discount starts or ends. Only responses that depend on view counts end when views are
//! stored.
//!
//! **Side effects**: a hit still counts the view of a product or content page, and the response has the current number
//! of views.

use std::hash::{BuildHasher, RandomState};
use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderName, HeaderValue};
use actix_web::{HttpMessage, HttpRequest, HttpResponse, web};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use kontor_adapter_diesel::{CacheVersion, CacheVersions, Database, Topic};
use kontor_catalog::storefront::StorefrontService;
use kontor_content::PageViewer;
use kontor_kernel::{AppScope, Clock, NomenclatureId, PageId, ProjectId};
use metrics::Counter;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::ClientIp;
use super::limits::TightestQuota;

/// Viewed record.
#[derive(Debug, Clone, Copy)]
pub enum Viewed {
    /// Product.
    Product(NomenclatureId),
    /// Content page.
    Page(PageId),
}

impl Viewed {
    /// Counts a view by the sender of the request. Returns the number of views that are not stored yet.
    async fn count_view(self, request: &HttpRequest) -> Option<u64> {
        let viewer = ClientIp::of(request).subject();
        Some(match self {
            Self::Product(id) => request.app_data::<web::Data<StorefrontService>>()?.count_view(id, &viewer).await,
            Self::Page(id) => request.app_data::<web::Data<PageViewer>>()?.count_view(id, &viewer).await,
        })
    }
}

/// Request extension that a handler sets if its response contains a number of views. The body must have exactly one
/// field `views_count`.
#[derive(Debug, Clone, Copy)]
pub struct ViewCountShown {
    /// Viewed record.
    pub viewed: Viewed,
    /// Number of views in the response.
    pub shown: u64,
    /// Part of `shown` that is not stored yet.
    pub unstored: u64,
}

/// Request extension that a handler sets if its response is sorted by product views.
#[derive(Debug, Clone, Copy)]
pub struct SortedByViews;

/// Two independent keyed hashes of the request data.
type Key = (u64, u64);

enum Body {
    Whole(Bytes),
    /// The number of views is inserted between the two parts.
    Counting {
        viewed: Viewed,
        stored: u64,
        before: Bytes,
        after: Bytes,
    },
}

impl Body {
    fn of(whole: Bytes, looked: Option<ViewCountShown>) -> Option<Self> {
        let Some(ViewCountShown { viewed, shown, unstored }) = looked else { return Some(Self::Whole(whole)) };
        let field = format!("\"views_count\":{shown}");
        let text = std::str::from_utf8(&whole).ok()?;
        let mut places = text.match_indices(&field).map(|(place, _)| place + "\"views_count\":".len());
        let (place, None) = (places.next()?, places.next()) else { return None };
        let end = place + field.len() - "\"views_count\":".len();
        // A longer number with the same beginning is a different number.
        if text.get(end..).is_none_or(|rest| rest.starts_with(|next: char| next.is_ascii_digit())) {
            return None;
        }
        let stored = shown.checked_sub(unstored)?;
        Some(Self::Counting { viewed, stored, before: whole.slice(..place), after: whole.slice(end..) })
    }

    fn len(&self) -> usize {
        match self {
            Self::Whole(whole) => whole.len(),
            Self::Counting { before, after, .. } => before.len() + after.len(),
        }
    }
}

struct CachedResponse {
    project: ProjectId,
    version: CacheVersion,
    /// Version of the views, if the response depends on them.
    views: Option<CacheVersion>,
    until: Option<DateTime<Utc>>,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Body,
}

/// Estimated size of an entry without its body, in bytes: the entry, its headers, its place in the tables.
const OVERHEAD: usize = 512;

#[derive(Clone)]
struct WeightInBytes;

impl Weighter<Key, Arc<CachedResponse>> for WeightInBytes {
    fn weight(&self, _: &Key, answer: &Arc<CachedResponse>) -> u64 {
        u64::try_from(answer.body.len() + OVERHEAD).unwrap_or(u64::MAX)
    }
}

/// Time of the next change that happens without a write.
#[derive(Clone, Copy)]
struct Expiry {
    version: CacheVersion,
    asked: DateTime<Utc>,
    until: Option<DateTime<Utc>>,
}

/// Maximum number of projects with a cached expiry.
const MAX_EXPIRIES: usize = 4_096;
/// Estimated number of entries; the cache can hold more.
const ESTIMATED_ENTRIES: usize = 4_096;

/// Counters of cache outcomes.
#[derive(Default)]
struct Outcomes {
    hit: OnceLock<Counter>,
    miss: OnceLock<Counter>,
    bypass: OnceLock<Counter>,
}

impl Outcomes {
    fn count(counter: &OnceLock<Counter>, outcome: &'static str) {
        let named = || metrics::counter!("kontor_answers_remembered_total", "outcome" => outcome);
        counter.get_or_init(named).increment(1);
    }
}

/// Response cache of the process.
pub struct ResponseCache {
    kept: Option<Cache<Key, Arc<CachedResponse>, WeightInBytes>>,
    horizons: Cache<ProjectId, Expiry>,
    hashers: (RandomState, RandomState),
    outcomes: Outcomes,
    database: Database,
    clock: Arc<dyn Clock>,
}

/// Request that may be answered from the cache.
pub struct CacheKey {
    key: Key,
    asked: DateTime<Utc>,
    access: Option<CacheVersion>,
}

/// Cache miss, with the version of the project before the request is processed.
pub struct Pending {
    question: CacheKey,
    project: ProjectId,
    version: CacheVersion,
    views: Option<CacheVersion>,
}

/// Creates a cache of this many bytes that evicts rarely used entries.
fn bounded_cache(bytes: u64) -> Cache<Key, Arc<CachedResponse>, WeightInBytes> {
    Cache::with_weighter(ESTIMATED_ENTRIES, bytes, WeightInBytes)
}

impl ResponseCache {
    /// Creates a cache of this many megabytes; `0` disables it.
    pub fn new(megabytes: u32, database: Database, clock: Arc<dyn Clock>) -> Self {
        Self {
            kept: (megabytes > 0).then(|| bounded_cache(u64::from(megabytes) * 1024 * 1024)),
            horizons: Cache::new(MAX_EXPIRIES),
            hashers: Default::default(),
            outcomes: Outcomes::default(),
            database,
            clock,
        }
    }

    /// Returns the size of all entries in bytes.
    pub fn bytes(&self) -> u64 {
        self.kept.as_ref().map_or(0, Cache::weight)
    }

    fn versions(&self) -> &CacheVersions {
        self.database.cache_versions()
    }

    /// Returns the cache key, if the request is eligible.
    pub fn cache_key(&self, request: &HttpRequest) -> Option<CacheKey> {
        let token = request.headers().get("token");
        let eligible = self.kept.is_some() && !request.headers().contains_key(AUTHORIZATION);
        let Some(token) = token.filter(|_| eligible && self.versions().are_watched()) else {
            Outcomes::count(&self.outcomes.bypass, "bypass");
            return None;
        };
        let asked = (token.as_bytes(), request.path(), request.query_string());
        let key = (self.hashers.0.hash_one(asked), self.hashers.1.hash_one(asked));
        Some(CacheKey { key, asked: self.clock.now(), access: self.versions().version_anywhere(Topic::Access) })
    }

    fn find(&self, question: &CacheKey) -> Option<Arc<CachedResponse>> {
        let answer = self.kept.as_ref()?.get(&question.key)?;
        let in_time = answer.until.is_none_or(|until| question.asked < until);
        let same = |topic, version| self.versions().version(topic, answer.project) == Some(version);
        let shows =
            same(Topic::Storefront, answer.version) && answer.views.is_none_or(|version| same(Topic::Views, version));
        (in_time && shows).then_some(answer)
    }

    /// Returns the cached response, if it is still valid.
    pub async fn get(&self, question: &CacheKey, request: &HttpRequest) -> Option<HttpResponse> {
        let Some(answer) = self.find(question) else {
            Outcomes::count(&self.outcomes.miss, "miss");
            return None;
        };
        let body = match &answer.body {
            Body::Whole(whole) => whole.clone(),
            Body::Counting { viewed, stored, before, after } => {
                let shown = stored + viewed.count_view(request).await?;
                let mut body = Vec::with_capacity(before.len() + after.len() + 20);
                body.extend_from_slice(before);
                write!(body, "{shown}").ok()?;
                body.extend_from_slice(after);
                body.into()
            }
        };
        Outcomes::count(&self.outcomes.hit, "hit");
        let mut response = HttpResponse::Ok();
        for (name, value) in &answer.headers {
            response.append_header((name, value));
        }
        Some(response.body(body))
    }

    /// Reads the version of the project before the request is processed. Returns `None` while a commit is in progress,
    /// or if access was revoked during authentication: the application was read before its project was known.
    pub fn begin(&self, question: CacheKey, app: &AppScope) -> Option<Pending> {
        let version = self.versions().version(Topic::Storefront, app.project_id)?;
        let undisturbed =
            question.access.is_some() && self.versions().version_anywhere(Topic::Access) == question.access;
        let views = self.versions().version(Topic::Views, app.project_id);
        undisturbed.then_some(Pending { question, project: app.project_id, version, views })
    }

    /// Returns `true` if the underlying data has not changed since the request began.
    fn is_unchanged(&self, pending: &Pending, by_views: bool) -> bool {
        let version = |topic| self.versions().version(topic, pending.project);
        let views = !by_views || pending.views.is_some() && version(Topic::Views) == pending.views;
        views && version(Topic::Storefront) == Some(pending.version)
    }

    async fn expiry(&self, pending: &Pending) -> Option<Expiry> {
        let asked = pending.question.asked;
        let known = self.horizons.get(&pending.project).filter(|known| {
            known.version == pending.version && known.asked <= asked && known.until.is_none_or(|until| asked < until)
        });
        if known.is_some() {
            return known;
        }
        let until = self.database.next_change(pending.project, asked).await;
        let until = until.inspect_err(|error| tracing::warn!(%error, "a response could not be cached")).ok()?;
        let horizon = Expiry { version: pending.version, asked, until };
        self.horizons.insert(pending.project, horizon);
        Some(horizon)
    }

    /// Stores a response, unless the underlying data has changed in the meantime.
    pub async fn store<B: MessageBody + 'static>(
        &self,
        pending: Pending,
        response: ServiceResponse<B>,
    ) -> ServiceResponse<EitherBody<B>> {
        // Rate limit headers belong to a single request.
        let counted = response.request().extensions().contains::<TightestQuota>();
        if response.status() != StatusCode::OK || counted {
            return response.map_into_left_body();
        }
        let looked = response.request().extensions().get::<ViewCountShown>().copied();
        let by_views = looked.is_some() || response.request().extensions().contains::<SortedByViews>();
        let (request, response) = response.into_parts();
        let (response, body) = response.into_parts();
        let whole = match body.try_into_bytes() {
            Ok(whole) => whole,
            Err(body) => return ServiceResponse::new(request, response.set_body(body)).map_into_left_body(),
        };
        let body = Body::of(whole.clone(), looked);
        if let (Some(cache), Some(body), Some(horizon)) = (&self.kept, body, self.expiry(&pending).await)
            && self.is_unchanged(&pending, by_views)
        {
            let headers = response.headers().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            let Pending { question, project, version, views } = pending;
            let views = views.filter(|_| by_views);
            let answer = CachedResponse { project, version, views, until: horizon.until, headers, body };
            cache.insert(question.key, Arc::new(answer));
        }
        ServiceResponse::new(request, response.set_body(BoxBody::new(whole))).map_into_right_body()
    }
}

/// Returns the response cache of the process.
pub fn memory(request: &ServiceRequest) -> Option<web::Data<ResponseCache>> {
    request.app_data::<web::Data<ResponseCache>>().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: usize) -> Arc<CachedResponse> {
        let project = ProjectId::new(1).unwrap();
        let version = CacheVersions::default().version(Topic::Storefront, project).unwrap();
        let body = Body::Whole(Bytes::from(vec![b'x'; bytes]));
        Arc::new(CachedResponse { project, version, views: None, until: None, headers: Vec::new(), body })
    }

    #[test]
    fn the_memory_never_grows_beyond_its_room() {
        const ROOM: u64 = 1024 * 1024;
        let kept = bounded_cache(ROOM);
        let mut heaviest = 0;
        // Inserts forty times the capacity in small and large entries; some replace others.
        for number in 0_u64..3_000 {
            let bytes = usize::try_from(number * 7_919 % 28_000).unwrap();
            kept.insert((number % 2_500, 0), answer(bytes));
            heaviest = heaviest.max(kept.weight());
            assert!(kept.weight() <= ROOM, "{} after {number} answers", kept.weight());
            let counted: u64 = kept.iter().map(|(_, answer)| u64::try_from(answer.body.len()).unwrap()).sum();
            assert!(counted <= kept.weight(), "{counted} bytes weigh {}", kept.weight());
        }
        assert!(heaviest > ROOM / 2, "{heaviest}: the room is used");
        kept.insert((0, 2), answer(100));
        assert!(kept.len() < 2_500 && kept.get(&(0, 2)).is_some(), "what is new is kept");
        kept.insert((0, 1), answer(usize::try_from(ROOM).unwrap()));
        assert!(kept.get(&(0, 1)).is_none() && kept.weight() <= ROOM, "what does not fit is not kept");
    }

    fn looked(shown: u64, unstored: u64) -> ViewCountShown {
        ViewCountShown { viewed: Viewed::Product(NomenclatureId::new(7).unwrap()), shown, unstored }
    }

    #[test]
    fn the_number_of_looks_is_cut_out() {
        let body =
            Body::of(Bytes::from_static(br#"{"a":"\"views_count\":12","views_count":12,"b":1}"#), Some(looked(12, 2)));
        let Some(Body::Counting { stored, before, after, .. }) = body else { panic!("not counting") };
        assert_eq!(stored, 10);
        assert_eq!(before, br#"{"a":"\"views_count\":12","views_count":"#.as_slice());
        assert_eq!(after, br#","b":1}"#.as_slice());
    }

    #[test]
    fn an_answer_without_one_such_number_is_not_stored() {
        for text in [r#"{"views_count":123}"#, r#"{"views_count":12,"x":{"views_count":12}}"#, "{}"] {
            assert!(Body::of(Bytes::from(text.to_owned()), Some(looked(12, 0))).is_none(), "{text}");
        }
        assert!(Body::of(Bytes::from_static(br#"{"views_count":1}"#), Some(looked(1, 2))).is_none());
        assert!(matches!(Body::of(Bytes::from_static(b"{}"), None), Some(Body::Whole(_))));
    }
}
