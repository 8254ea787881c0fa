//! Relay of one connection between libpq and the server.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, copy, split};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::ENDING;
use super::route::{Failure, Route};

/// Maximum length of the first message of a client, as PostgreSQL defines it.
const MAX_STARTUP_MESSAGE: usize = 10_000;

/// Maximum length of a list of authentication methods. Longer messages pass unchanged.
const MAX_LIST_BYTES: usize = 10_000;

const CANCEL_REQUEST: [u8; 4] = [0x04, 0xD2, 0x16, 0x2E];

/// Suffix of SASL mechanisms with channel binding.
const BINDING: &[u8] = b"-PLUS";

/// Forwards data in both directions until one side ends.
pub(super) async fn serve(mut local: UnixStream, route: &Route) -> io::Result<()> {
    // The whole opening is read first, so that libpq has sent it when it receives a failure.
    let opening = opening(&mut local).await?;
    match route.open().await {
        Ok(remote) => forward(local, remote, &opening, route).await,
        Err(failure) => {
            tracing::debug!(server = %route.server(), reason = failure.text, "cannot connect to PostgreSQL");
            let is_cancel = opening.get(4..8) == Some(&CANCEL_REQUEST);
            if is_cancel { Ok(()) } else { local.write_all(&encode_failure(&failure)).await }
        }
    }
}

async fn opening(local: &mut UnixStream) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; 4];
    local.read_exact(&mut packet).await?;
    let length = length(&packet).filter(|length| (8..=MAX_STARTUP_MESSAGE).contains(length));
    packet.resize(length.ok_or(io::ErrorKind::InvalidData)?, 0);
    local.read_exact(packet.get_mut(4..).unwrap_or_default()).await?;
    Ok(packet)
}

/// Returns the length at the start of the bytes, which includes itself.
fn length(bytes: &[u8]) -> Option<usize> {
    let (head, _) = bytes.split_first_chunk()?;
    usize::try_from(u32::from_be_bytes(*head)).ok()
}

async fn forward(local: UnixStream, remote: TlsStream<TcpStream>, opening: &[u8], route: &Route) -> io::Result<()> {
    let (mut from_local, mut to_local) = local.into_split();
    let (mut from_remote, mut to_remote) = split(remote);
    to_remote.write_all(opening).await?;
    to_remote.flush().await?;
    let there = async {
        let outcome = copy(&mut from_local, &mut to_remote).await;
        // The server may be gone; nothing waits for its reply.
        let _ = timeout(ENDING, to_remote.shutdown()).await;
        outcome.map(|_| ())
    };
    let back = async {
        if let Err(error) = relay_authentication(&mut from_remote, &mut to_local).await {
            // A server that rejects the client certificate reports it here.
            let failure = Failure::refused(format!("{} ended the connection: {error}", route.server()));
            to_local.write_all(&encode_failure(&failure)).await?;
            return Err(error);
        }
        copy(&mut from_remote, &mut to_local).await.map(|_| ())
    };
    tokio::select! {
        outcome = there => outcome,
        outcome = back => outcome,
    }
}

/// Forwards messages of the server up to the authentication request. Mechanisms with channel binding are removed: libpq
/// does not see the TLS channel and would treat the offer as an attack.
async fn relay_authentication(
    from: &mut (impl AsyncRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
) -> io::Result<()> {
    loop {
        let mut head = [0; 5];
        match from.read_exact(&mut head).await {
            Ok(_) => {}
            // End of a cancel request.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let [kind, length @ ..] = head;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        if !(4..=MAX_LIST_BYTES).contains(&length) {
            return to.write_all(&head).await;
        }
        let mut body = vec![0; length - 4];
        from.read_exact(&mut body).await?;
        let (is_sign_in, is_failure) = (kind == b'R', kind == b'E');
        if is_sign_in {
            body = without_binding(body);
        }
        to.write_all(&message(kind, &body)).await?;
        if is_sign_in || is_failure {
            return Ok(());
        }
    }
}

/// Returns the list of SASL mechanisms (request 10) without those with channel binding; other messages pass unchanged.
fn without_binding(body: Vec<u8>) -> Vec<u8> {
    let Some(list) = body.strip_prefix(&[0, 0, 0, 10]) else { return body };
    let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let mut kept = vec![0, 0, 0, 10];
    for name in names.filter(|name| !name.ends_with(BINDING)) {
        kept.extend_from_slice(name);
        kept.push(0);
    }
    kept.push(0);
    kept
}

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
    let mut message = vec![kind];
    message.extend_from_slice(&length.to_be_bytes());
    message.extend_from_slice(body);
    message
}

/// Encodes a failure as a server would report it.
fn encode_failure(failure: &Failure) -> Vec<u8> {
    let fields = [('S', "FATAL"), ('V', "FATAL"), ('C', failure.state), ('M', failure.text.as_str())];
    let mut body = String::new();
    for (field, text) in fields {
        body.push(field);
        body.push_str(text);
        body.push('\0');
    }
    body.push('\0');
    message(b'E', body.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: &[u8] = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";

    #[tokio::test]
    async fn the_offer_to_bind_is_left_out_and_the_rest_passes() {
        let notice = message(b'N', b"SNOTICE\0\0");
        let mut said = notice.clone();
        said.extend(message(b'R', OFFERED));
        said.extend(message(b'R', OFFERED));
        let mut from = said.as_slice();
        let mut heard = Vec::new();
        relay_authentication(&mut from, &mut heard).await.unwrap();
        let mut expected = notice;
        expected.extend(message(b'R', b"\0\0\0\x0aSCRAM-SHA-256\0\0"));
        assert_eq!(heard, expected);
        assert_eq!(from, message(b'R', OFFERED), "only the first offer is looked at");
    }

    #[tokio::test]
    async fn other_ways_to_sign_in_pass_unchanged() {
        for said in [message(b'R', b"\0\0\0\0"), message(b'R', b"\0\0\0\x05salt"), message(b'E', b"SFATAL\0\0"), vec![]]
        {
            let mut heard = Vec::new();
            relay_authentication(&mut said.as_slice(), &mut heard).await.unwrap();
            assert_eq!(heard, said);
        }
    }
}
