//! A conversation behind TLS or HTTP over a socket that never blocks.
//!
//! The conversation is a future that nobody but its socket wakes, so there is
//! no runtime: it goes on whenever there may be something to read or to write.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::kind::Got;
use super::roots::Roots;
use super::stream::is_passing;
use super::{https, tls};
use crate::engine::failure::Failure;
use crate::engine::secure::Secure;

/// A conversation with one server.
pub(super) struct Conversation {
    /// Ends when it cannot go on.
    work: Pin<Box<dyn Future<Output = Result<Infallible, Failure>>>>,
    letters: Rc<Letters>,
    is_woken: Arc<Woken>,
    pub(super) socket: Socket,
    pub(super) peer: SocketAddr,
    is_told: bool,
    /// Why it has ended, and whether that was told.
    end: Option<(Failure, bool)>,
}

/// Messages between the conversation and its task, in both directions.
#[derive(Debug, Default)]
pub(super) struct Letters {
    is_open: Cell<bool>,
    outgoing: RefCell<VecDeque<Vec<u8>>>,
    incoming: RefCell<VecDeque<Vec<u8>>>,
}

/// A socket that its conversation and epoll know.
#[derive(Clone, Debug)]
pub(super) struct Socket(pub(super) Rc<TcpStream>);

#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Conversation {
    /// Begins what stands between TCP and DNS; `roots` say whose certificates count.
    pub(super) fn begin(
        socket: TcpStream,
        peer: SocketAddr,
        secure: Secure,
        roots: &Roots,
    ) -> Self {
        let socket = Socket(Rc::new(socket));
        let letters = Rc::new(Letters::default());
        let (stream, kept) = (socket.clone(), Rc::clone(&letters));
        let protocol = match secure.http {
            Some(_) => https::PROTOCOL,
            None => tls::PROTOCOL,
        };
        let layer = secure.tls.map(|tls| {
            let config = roots.config(&tls, protocol);
            tls::Layer { tls, config, peer }
        });
        Self {
            work: Box::pin(async move {
                match (secure.http, layer) {
                    (Some(http), layer) => https::converse(stream, layer, http, peer, &kept).await,
                    (None, Some(layer)) => tls::converse(stream, layer, &kept).await,
                    (None, None) => Err(Failure::Failed),
                }
            }),
            letters,
            is_woken: Arc::default(),
            socket,
            peer,
            is_told: false,
            end: None,
        }
    }

    /// Sends a message, sooner or later.
    pub(super) fn send(&self, message: &[u8]) {
        self.letters
            .outgoing
            .borrow_mut()
            .push_back(message.to_vec());
    }

    /// What it has to tell, if anything: that it is open, a message, its end.
    pub(super) fn read(&mut self) -> Option<Got> {
        self.go_on();
        if self.letters.is_open.get() && !std::mem::replace(&mut self.is_told, true) {
            return Some(Got::Connected);
        }
        if let Some(message) = self.letters.incoming.borrow_mut().pop_front() {
            return Some(Got::Message(self.peer, message));
        }
        let (failure, is_told) = self.end.as_mut()?;
        (!std::mem::replace(is_told, true)).then_some(Got::Broken(*failure))
    }

    fn go_on(&mut self) {
        let waker = Waker::from(Arc::clone(&self.is_woken));
        while self.end.is_none() {
            self.is_woken.0.store(false, Ordering::Relaxed);
            match self.work.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(Err(failure)) => self.end = Some((failure, false)),
                Poll::Pending if self.is_woken.0.load(Ordering::Relaxed) => {}
                Poll::Pending => return,
            }
        }
    }
}

impl Letters {
    /// From now on messages can be sent.
    pub(super) fn open(&self) {
        self.is_open.set(true);
    }

    /// The next message that is to be sent, as soon as there is one.
    pub(super) async fn next(&self) -> Vec<u8> {
        poll_fn(|_| match self.outgoing.borrow_mut().pop_front() {
            Some(message) => Poll::Ready(message),
            None => Poll::Pending,
        })
        .await
    }

    /// Whether nothing is to be sent.
    pub(super) fn is_empty(&self) -> bool {
        self.outgoing.borrow().is_empty()
    }

    /// Hands over a message that came.
    pub(super) fn put(&self, message: Vec<u8>) {
        self.incoming.borrow_mut().push_back(message);
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a call that never blocks came to.
fn polled<T>(mut call: impl FnMut() -> io::Result<T>) -> Poll<io::Result<T>> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_passing(&error) => return Poll::Pending,
            done => return Poll::Ready(done),
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut socket = &*self.0;
        let read = polled(|| socket.read(buffer.initialize_unfilled()));
        read.map_ok(|count| buffer.advance(count))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut socket = &*self.0;
        polled(|| socket.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.0.shutdown(std::net::Shutdown::Write))
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversation")
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
