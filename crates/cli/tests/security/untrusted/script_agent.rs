//! A script in an agent's place. It calls `segue` as any process of an agent could.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use segue_testkit::scene::write_project;
use segue_testkit::{CommandOutcome, World, files};

/// Writes a trusted project file with the vendor `script`, and runs the script as the agent `name`.
/// Returns the output of the script when it has ended. The agent then stays alive. In the script,
/// `$SEGUE` is this world's `segue`, and `$HOLDER` is the pid of the agent's holder.
pub(super) fn run_as_agent(
    world: &World,
    (name, permission): (&str, &str),
    script: &str,
) -> String {
    let folder = world.root().join(format!("agent-{name}"));
    fs::create_dir(&folder).unwrap();
    let (path, output) = (folder.join("script"), folder.join("output"));
    mknodat(CWD, &output, FileType::Fifo, Mode::from_raw_mode(0o666), 0).unwrap();
    for (path, mode) in [(&folder, 0o755), (&output, 0o666)] {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
    let text = format!(
        "SEGUE={}\nHOLDER=$PPID\n{{\n{script}\n}} >{} 2>&1 </dev/null\ncat\n",
        world.program().display(),
        output.display()
    );
    fs::write(&path, text).unwrap();
    let command = "command = ['/bin/sh', '-c', '. \"$2\"', 'sh']\nnew = ['{id}']\n";
    write_project(world, &format!("[vendors.script]\n{command}"));
    let path = path.to_str().unwrap();
    let names = ["--vendor", "script", "--name", name, "--permission", permission];
    let run = ["run", "-d"].into_iter().chain(names).chain(["--", path]);
    let started = CommandOutcome::of(&mut world.command(run));
    assert_eq!(started.status, 0, "{started:#?}");
    // This reads until every writer has closed the pipe.
    fs::read_to_string(output).unwrap()
}

/// Writes the program `name` into a folder. Returns the folder. When it runs, the program creates a
/// file in the world's folder `marks` that has the folder's name, and then keeps running.
pub(super) fn write_marking_program(world: &World, (folder, name): (&str, &str)) -> PathBuf {
    let marks = world.root().join("marks");
    fs::create_dir_all(&marks).unwrap();
    fs::set_permissions(&marks, Permissions::from_mode(0o777)).unwrap();
    let folder = world.root().join(folder);
    let mark = marks.join(folder.file_name().unwrap());
    let text = format!("#!/bin/sh\n: >>{}\nexec cat\n", mark.display());
    files::write_program(&folder.join(name), &text);
    folder
}
