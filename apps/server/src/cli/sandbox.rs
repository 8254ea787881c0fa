//! `kontor sandbox`

use std::net::SocketAddr;
use std::sync::Arc;

use kontor_kernel::AdjustableClock;
use kontor_sandbox::{Sandbox, SandboxConfig};

use super::{Failure, process};
use crate::adapters::SystemClock;
use crate::config::Config;

/// Emulates the outside services until a termination signal.
pub fn run(bind: SocketAddr) -> Result<(), Failure> {
    process::log(&Config::default())?;
    process::runtime()?.block_on(async {
        let clock = Arc::new(AdjustableClock::new(Arc::new(SystemClock)));
        let config = SandboxConfig { bind, ..SandboxConfig::with_adjustable_clock(clock) };
        let (shop_id, secret_key, api_id) =
            (config.shop_id.clone(), config.secret_key.clone(), config.telephony_api_id.clone());
        let suggest_key = config.suggest_api_key.clone();
        let (bucket, region) = (config.bucket.clone(), config.bucket_region.clone());
        let (access_key, bucket_key) = (config.bucket_access_key.clone(), config.bucket_secret_key.clone());
        let sandbox = Sandbox::start(config).await?;
        println!("sandbox at {}", sandbox.url());
        println!("KONTOR_ACQUIRER_URL={}/v3", sandbox.url());
        println!("KONTOR_ACQUIRER_SHOP_ID={shop_id}");
        println!("KONTOR_ACQUIRER_SECRET_KEY={secret_key}");
        println!("KONTOR_TELEPHONY_URL={}", sandbox.url());
        println!("KONTOR_TELEPHONY_API_ID={api_id}");
        println!("KONTOR_SUGGEST_URL={}/suggestions/api/4_1/rs", sandbox.url());
        println!("KONTOR_SUGGEST_API_KEY={suggest_key}");
        println!("KONTOR_SMTP_HOST={}", sandbox.smtp_addr().ip());
        println!("KONTOR_SMTP_PORT={}", sandbox.smtp_addr().port());
        println!("KONTOR_FILES_S3_ENDPOINT={}/s3", sandbox.url());
        println!("KONTOR_FILES_S3_BUCKET={bucket}");
        println!("KONTOR_FILES_S3_REGION={region}");
        println!("KONTOR_FILES_S3_ACCESS_KEY={access_key}");
        println!("KONTOR_FILES_S3_SECRET_KEY={bucket_key}");
        println!("KONTOR_WEBHOOK_ALLOW_INTERNAL=true");
        process::wait_for_termination().await?;
        sandbox.stop().await;
        Ok(())
    })
}
