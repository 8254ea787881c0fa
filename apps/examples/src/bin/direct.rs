//! Runs [`kontor_examples::direct`] until it is interrupted.

use std::error::Error;
use std::net::TcpListener;

use kontor_examples::kontor::Kontor;
use kontor_examples::settings::{Settings, bind};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let kontor = Kontor::new(Settings::read()?)?;
    let listener = TcpListener::bind(bind("127.0.0.1:8091")?)?;
    println!("http://{}/lesson", listener.local_addr()?);
    let server = kontor_examples::direct::serve(kontor, listener)?;
    let handle = server.handle();
    let serving = tokio::spawn(server);
    tokio::signal::ctrl_c().await?;
    handle.stop(true).await;
    Ok(serving.await??)
}
