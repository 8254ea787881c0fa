//! Lists that the service returns page by page.

use std::fmt;

use futures_util::stream::{self, Stream, TryStreamExt};

use crate::call::Call;
use crate::error::Error;

/// One page of a list.
pub trait Page {
    /// Record of the list.
    type Item;

    /// Returns the number of records in all pages.
    fn total(&self) -> i64;

    /// Returns the records of this page.
    fn into_items(self) -> Vec<Self::Item>;
}

/// Query with a page number.
pub trait Numbered {
    /// Sets the number of the page, from 1.
    fn set_page(&mut self, page: i64);
}

/// Call of one page by its query.
type Fetch<Q, P> = Box<dyn Fn(&Q) -> Call<P> + Send + Sync>;

/// All pages of a list, read one after the other.
///
/// A record that is added or removed meanwhile can shift others to another page. Change feeds do not have that problem.
pub struct Pages<Q, P> {
    query: Q,
    fetch: Fetch<Q, P>,
    page: i64,
    seen: i64,
    ended: bool,
}

impl<Q: Numbered, P: Page + Send + 'static> Pages<Q, P> {
    pub(crate) fn new(query: Q, fetch: impl Fn(&Q) -> Call<P> + Send + Sync + 'static) -> Self {
        Self { query, fetch: Box::new(fetch), page: 0, seen: 0, ended: false }
    }

    /// Returns the records of the next page, or `None` after the last page or an error.
    pub async fn next_page(&mut self) -> Option<Result<Vec<P::Item>, Error>> {
        if self.ended {
            return None;
        }
        self.page += 1;
        self.query.set_page(self.page);
        let call = (self.fetch)(&self.query);
        let page = match call.await {
            Ok(page) => page,
            Err(error) => {
                self.ended = true;
                return Some(Err(error));
            }
        };
        let total = page.total();
        let items = page.into_items();
        self.seen = self.seen.saturating_add(i64::try_from(items.len()).unwrap_or(i64::MAX));
        self.ended = items.is_empty() || self.seen >= total;
        (!items.is_empty()).then_some(Ok(items))
    }

    /// Returns the records of all pages.
    pub async fn all(mut self) -> Result<Vec<P::Item>, Error> {
        let mut all = Vec::new();
        while let Some(items) = self.next_page().await {
            all.extend(items?);
        }
        Ok(all)
    }

    /// Returns the records as a stream, which reads a page when it is needed.
    pub fn stream(self) -> impl Stream<Item = Result<P::Item, Error>> {
        let pages = stream::try_unfold(self, |mut pages| async move {
            match pages.next_page().await {
                Some(Ok(items)) => Ok(Some((stream::iter(items.into_iter().map(Ok::<_, Error>)), pages))),
                Some(Err(error)) => Err(error),
                None => Ok(None),
            }
        });
        pages.try_flatten()
    }
}

impl<Q: fmt::Debug, P> fmt::Debug for Pages<Q, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("query", &self.query).field("page", &self.page).finish_non_exhaustive()
    }
}
