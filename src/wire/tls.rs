//! DNS over TLS (RFC 7858), by rustls.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::secure::{Letters, Socket};
use super::{failure, verifier};
use crate::engine::failure::{Certificate, Failure};
use crate::engine::secure::{Tls, Trust};

/// What a server says that it speaks.
pub(super) const PROTOCOL: &[u8] = b"dot";

/// How TLS is spoken with one server.
pub(super) struct Layer {
    pub(super) tls: Tls,
    pub(super) config: Result<ClientConfig, Failure>,
    pub(super) peer: SocketAddr,
}

/// Shakes hands, then exchanges messages until that is no longer possible.
pub(super) async fn converse(
    socket: Socket,
    layer: Layer,
    letters: &Letters,
) -> Result<Infallible, Failure> {
    let must_agree = layer.tls.must_agree;
    let stream = shake_hands(socket, layer).await?;
    if must_agree && stream.get_ref().1.alpn_protocol() != Some(PROTOCOL) {
        return Err(Failure::NoDot);
    }
    letters.open();
    let (mut reader, mut writer) = split(stream);
    let read = async {
        loop {
            let message = framed(&mut reader).await;
            letters.put(message.map_err(|error| why(&error))?);
        }
    };
    // What is wrong shows when the reply is waited for.
    let write = async {
        loop {
            let message = letters.next().await;
            if write(&mut writer, &message).await.is_err() {
                pending::<()>().await;
            }
        }
    };
    match select(pin!(read), pin!(write)).await {
        Either::Left((end, _)) | Either::Right((end, _)) => end,
    }
}

/// Writes a message behind its length (RFC 1035, section 4.2.2).
async fn write(writer: &mut (impl AsyncWrite + Unpin), message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).unwrap_or(u16::MAX);
    let whole = [&length.to_be_bytes(), message].concat();
    writer.write_all(&whole).await?;
    writer.flush().await
}

async fn framed(reader: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut message = vec![0; reader.read_u16().await?.into()];
    reader.read_exact(&mut message).await?;
    Ok(message)
}

/// TLS over a socket.
pub(super) async fn shake_hands(
    socket: Socket,
    layer: Layer,
) -> Result<TlsStream<Socket>, Failure> {
    let Layer { tls, config, peer } = layer;
    let config = config?;
    // Certificates know no zones of addresses.
    let host = tls.host.split('%').next().unwrap_or_default().to_owned();
    // What is no name is nobody's; whoever answers has none.
    let name = ServerName::try_from(host).or_else(|_| match tls.trust {
        Trust::Anyone => Ok(peer.ip().into()),
        _ => Err(Failure::Certificate(Certificate::OtherName)),
    })?;
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, socket);
    connecting.await.map_err(|error| why_not(&error))
}

/// Why hands were not shaken.
fn why_not(error: &io::Error) -> Failure {
    let tls = error.get_ref().and_then(|it| it.downcast_ref());
    tls.map_or_else(|| failure(error), verifier::failure)
}

/// Why nothing more comes behind the handshake: the server can end it for the
/// certificate that it misses.
pub(super) fn why(error: &io::Error) -> Failure {
    use rustls::AlertDescription::CertificateRequired;
    match error.get_ref().and_then(|it| it.downcast_ref()) {
        Some(rustls::Error::AlertReceived(CertificateRequired)) => Failure::WantsCertificate,
        Some(rustls::Error::AlertReceived(_)) => Failure::EndOfFile,
        Some(_) => Failure::NoTls,
        None => failure(error),
    }
}
