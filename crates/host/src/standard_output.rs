//! Notices that nobody reads the standard output of this process any more.

use std::future::pending;
use std::io;
use std::os::fd::AsRawFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits until the program that reads standard output has ended or has closed it. Without this, a
/// command that follows something notices it with its next line, which may never come. Waits
/// forever if standard output is a file, which has no reader.
pub async fn reader_gone() {
    if closed(io::stdout()).await.is_err() {
        pending().await
    }
}

async fn closed(output: impl AsRawFd) -> io::Result<()> {
    let output = AsyncFd::with_interest(output, Interest::WRITABLE)?;
    loop {
        let mut guard = output.ready(Interest::WRITABLE).await?;
        if guard.ready().is_write_closed() {
            return Ok(());
        }
        // Waits for the next change: the kernel reports each of them once.
        guard.clear_ready();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    /// Reads what is written before it closes its end, so that the output has become writable again.
    async fn ends_with_its_reader(mut output: impl AsRawFd + io::Write, mut input: impl io::Read) {
        output.write_all(b"line").unwrap();
        let waiting = closed(output);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the reader is still there"),
            () = tokio::task::yield_now() => {}
        }
        input.read_exact(&mut [0; 4]).unwrap();
        drop(input);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn end_of_the_reader_of_a_pipe_and_of_a_socket_is_noticed() {
        let (input, output) = io::pipe().unwrap();
        ends_with_its_reader(output, input).await;
        let (output, input) = UnixStream::pair().unwrap();
        ends_with_its_reader(output, input).await;
    }

    #[tokio::test]
    async fn file_has_no_reader() {
        assert!(closed(tempfile::tempfile().unwrap()).await.is_err());
    }
}
