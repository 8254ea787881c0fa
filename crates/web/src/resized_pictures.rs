//! Smaller copies of pictures: `/files/{key}?w=320`. The first request for a copy creates it and stores it beside the
//! content.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::Method;
use actix_web::http::header::{CONTENT_TYPE, EntityTag};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kontor_content::model::{MediaType, PictureWidth, StoredFile};
use kontor_content::ports::ResizedPicture;
use kontor_content::{FileRefusal, FileService};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::ApiError;
use super::blocking::blocking;
use super::content_headers::{disposition, framed, is_known};
use super::request_services::Service;

/// Number of requests that may wait while a copy is made: enough for one page of new pictures.
const MAX_WAITING: usize = 64;
/// Maximum waiting time of a request.
const MAX_WAIT: Duration = Duration::from_secs(20);
/// Time after which a rejected caller may retry: by then the queue has moved on.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Queue of requests that make smaller copies. The process makes one at a time, so callers can exhaust neither memory
/// nor processors.
pub struct ResizeQueue {
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
    patience: Duration,
}

/// Exclusive right to make a copy, released on drop.
#[must_use]
struct ResizePermit {
    _place: OwnedSemaphorePermit,
    _turn: OwnedSemaphorePermit,
}

impl Default for ResizeQueue {
    fn default() -> Self {
        Self::new(MAX_WAITING, MAX_WAIT)
    }
}

impl ResizeQueue {
    fn new(places: usize, patience: Duration) -> Self {
        // One additional place for the request that is being processed.
        Self { places: Arc::new(Semaphore::new(places + 1)), turns: Arc::new(Semaphore::new(1)), patience }
    }

    /// Waits in order of arrival: `503` if the queue is full or the wait is too long.
    async fn enter(&self) -> Result<ResizePermit, ApiError> {
        let overloaded = || ApiError::Overloaded(RETRY_AFTER);
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| overloaded())?;
        match timeout(self.patience, Arc::clone(&self.turns).acquire_owned()).await {
            Ok(Ok(turn)) => Ok(ResizePermit { _place: place, _turn: turn }),
            Ok(Err(closed)) => Err(ApiError::internal(&closed)),
            Err(_) => Err(overloaded()),
        }
    }
}

/// Responds with a picture of limited width. Range requests are not supported, because the copy is small.
pub(super) async fn serve(
    request: &HttpRequest,
    service: Service<FileService>,
    queue: &ResizeQueue,
    file: StoredFile,
    width: PictureWidth,
) -> Result<HttpResponse, ApiError> {
    if !file.media.is_image() {
        return Err(FileRefusal::NotAPicture.into());
    }
    let tag = EntityTag::new_strong(format!("{}-w{}", file.content.sha256.as_str(), width.pixels()));
    if is_known(request, &tag) {
        return Ok(framed(HttpResponse::NotModified(), &file, &tag).finish());
    }
    let picture = match service.resized(&file, width).await? {
        Some(found) => found,
        None => make(service.into_inner(), queue, &file, width).await?,
    };
    let media = MediaType::Webp;
    let name = media.label(Some(&file.name)).unwrap_or_else(|_| file.name.clone());
    let mut answer = HttpResponse::Ok();
    answer
        .insert_header((CONTENT_TYPE, media.mime()))
        .insert_header(disposition(&name, media))
        .no_chunking(picture.size);
    let mut answer = framed(answer, &file, &tag);
    if request.method() == Method::HEAD {
        return Ok(answer.streaming(stream::empty::<Result<Bytes, std::io::Error>>()));
    }
    Ok(answer.streaming(picture.pieces.map_err(std::io::Error::other).boxed()))
}

/// Makes a copy in turn, unless another request has made it in the meantime.
async fn make(
    service: Arc<FileService>,
    queue: &ResizeQueue,
    file: &StoredFile,
    width: PictureWidth,
) -> Result<ResizedPicture, ApiError> {
    let turn = queue.enter().await?;
    if let Some(found) = service.resized(file, width).await? {
        return Ok(found);
    }
    let file = Arc::new(file.clone());
    // The copy is finished and stored even if the caller disconnects, so a repeated request finds it.
    let made = tokio::spawn(async move {
        let _turn = turn;
        let content = service.whole(&file).await?;
        let (resizer, picture) = (service.clone(), file.clone());
        let copy = blocking(move || resizer.resize(&content, &picture, width)).await??;
        service.keep_resized(&file, width, copy.clone()).await?;
        Ok::<_, ApiError>(copy.into())
    });
    made.await.map_err(|error| ApiError::internal(&error))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_forgets_who_has_left() {
        let queue = ResizeQueue::new(1, Duration::from_mins(1));
        let working = queue.enter().await.unwrap();
        let mut waiting = Box::pin(queue.enter());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert!(matches!(queue.enter().await, Err(ApiError::Overloaded(_))));
        drop(waiting);
        let mut waiting = Box::pin(queue.enter());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(working);
        assert!(waiting.await.is_ok());
    }

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let queue = ResizeQueue::new(1, Duration::ZERO);
        let _working = queue.enter().await.unwrap();
        assert!(matches!(queue.enter().await, Err(ApiError::Overloaded(wait)) if wait == RETRY_AFTER));
    }
}
