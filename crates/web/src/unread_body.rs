//! Closes a connection if the body of its request is unread when the response is sent. actix does so for a body of
//! announced length. It would read a chunked body to the end, however long that takes.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_web::HttpMessage;
use actix_web::body::{BodySize, BoxBody, EitherBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::error::PayloadError;
use actix_web::http::header::TRANSFER_ENCODING;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};

/// Request body that lives as long as its response.
#[derive(Clone)]
pub struct HeldBody(Rc<RefCell<Payload>>);

impl HeldBody {
    /// Keeps the body of the request, if it is chunked.
    pub fn of(request: &mut ServiceRequest) -> Option<Self> {
        if !request.headers().contains_key(TRANSFER_ENCODING) {
            return None;
        }
        let kept = Self(Rc::new(RefCell::new(request.take_payload())));
        request.set_payload(Payload::Stream { payload: Box::pin(kept.clone()) });
        Some(kept)
    }
}

impl Stream for HeldBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.borrow_mut().poll_next_unpin(context)
    }
}

/// Response body that holds the request body until it is sent.
pub struct BodyWithRequest {
    answer: BoxBody,
    _kept: HeldBody,
}

impl MessageBody for BodyWithRequest {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.answer.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        self.answer.as_pin_mut().poll_next(context)
    }
}

/// Combines a response with the kept request body, if any.
pub fn holding<B: MessageBody + 'static>(
    response: ServiceResponse<B>,
    kept: Option<HeldBody>,
) -> ServiceResponse<EitherBody<B, BodyWithRequest>> {
    match kept {
        None => response.map_into_left_body(),
        Some(kept) => response.map_body(|_, answer| EitherBody::Right {
            body: BodyWithRequest { answer: BoxBody::new(answer), _kept: kept },
        }),
    }
}
