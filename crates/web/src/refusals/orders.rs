//! Responses to refusals of `kontor-orders`.

use crate::ApiError;
use kontor_orders::tickets::ScanRefused;

impl From<ScanRefused> for ApiError {
    fn from(refused: ScanRefused) -> Self {
        match refused {
            ScanRefused::Denied(denied) => denied.into(),
            ScanRefused::Store(error) => error.into(),
        }
    }
}
