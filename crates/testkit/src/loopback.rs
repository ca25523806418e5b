//! HTTP servers of tests on the loopback address.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// A server in a thread of its own. It runs until this value is dropped.
#[derive(Debug)]
pub(crate) struct LoopbackServer {
    pub(crate) address: SocketAddr,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl LoopbackServer {
    /// Starts a server on a free port. The bodies of requests may have any length.
    pub(crate) fn start(router: Router) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = oneshot::channel();
        let router = router.layer(DefaultBodyLimit::disable());
        let thread = std::thread::spawn(move || run(listener, router, stopped));
        Self { address, running: Some((stop, thread)) }
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            // The receiver is gone only if the thread has panicked, which the test has reported.
            let _gone = stop.send(());
            let _ended = thread.join();
        }
    }
}

fn run(listener: TcpListener, router: Router, stopped: oneshot::Receiver<()>) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        listener.set_nonblocking(true).expect("a listener");
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::select! {
            served = async { axum::serve(listener, router).await } => served.expect("served"),
            _ = stopped => {}
        }
    });
}
