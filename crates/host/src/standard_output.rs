//! Notices that the program which reads standard output has gone.

use std::future::pending;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use tokio::io::Interest;

use crate::descriptor::watched;

/// Waits until the program that reads standard output has ended or has closed it. Without this, a
/// command that follows something notices it with its next line, which may never come. Waits
/// forever if standard output is a file, which has no reader.
pub async fn reader_gone() {
    let closed = match io::stdout().as_fd().try_clone_to_owned() {
        Ok(output) => closed(output).await,
        Err(error) => Err(error),
    };
    if closed.is_err() {
        pending::<()>().await;
    }
}

async fn closed(output: OwnedFd) -> io::Result<()> {
    let output = watched(output, Interest::WRITABLE)?;
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

    use rustix::io::{read, write};

    use super::*;

    /// The reader reads before it closes its end, so that the output has become writable again.
    async fn ends_with_its_reader(output: OwnedFd, input: OwnedFd) {
        write(&output, b"line").unwrap();
        let waiting = closed(output);
        tokio::pin!(waiting);
        tokio::select! {
            biased;
            _ = &mut waiting => panic!("the reader is still there"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(read(&input, &mut [0; 4]).unwrap(), 4);
        drop(input);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn end_of_the_reader_of_a_pipe_and_of_a_socket_is_noticed() {
        let (input, output) = io::pipe().unwrap();
        ends_with_its_reader(output.into(), input.into()).await;
        let (output, input) = UnixStream::pair().unwrap();
        ends_with_its_reader(output.into(), input.into()).await;
    }

    #[tokio::test]
    async fn file_has_no_reader() {
        assert!(closed(tempfile::tempfile().unwrap().into()).await.is_err());
    }
}
