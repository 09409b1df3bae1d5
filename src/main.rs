//! The `parlor` command.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::Parser as _;
use parlor::admin::Admin;
use parlor::app::App;
use parlor::cli::{Cli, Command, ServeArgs, SimulateArgs};
use parlor::client::explain;
use parlor::config::{EXIT_CONFIG, Mistakes, RuntimeShape, Settings};
use parlor::memory::give_back;
use parlor::telemetry::{Telemetry, measure_lag};
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Why a command did not do what it should.
type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let cli = Cli::parse();
    match cli.command {
        None => serve(&cli.serve),
        Some(Command::Play(args)) => call(parlor::play::play(args)),
        Some(Command::Probe(args)) => call(parlor::probe::probe(args)),
        Some(Command::Verify(args)) => call(parlor::verify::verify(args)),
        Some(Command::Simulate(args)) => simulate(&args),
    }
}

/// Does something at a server.
fn call(work: impl Future<Output = Result<(), Failure>>) -> ExitCode {
    finish(runtime(RuntimeShape::Shared).map_err(Failure::from).and_then(|r| r.block_on(work)))
}

fn serve(args: &ServeArgs) -> ExitCode {
    let settings = match Settings::try_from(args) {
        Ok(settings) => settings,
        Err(mistakes) => return refuse(&mistakes),
    };
    finish(run(settings))
}

/// Tells what went wrong, if anything did.
#[expect(clippy::print_stderr, reason = "this is what the operator is told")]
fn finish(done: Result<(), Failure>) -> ExitCode {
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let status = error.downcast_ref::<tonic::Status>();
            eprintln!("parlor: {}", status.map_or_else(|| error.to_string(), explain));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "this is what the caller is told")]
fn simulate(args: &SimulateArgs) -> ExitCode {
    let summary = match parlor::simulate::run(args) {
        Ok(summary) => summary,
        Err(mistakes) => return refuse(&mistakes),
    };
    match std::io::stdout().write_all(summary.as_bytes()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("parlor: the summary cannot be written: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Tells all that is wrong with the settings.
#[expect(clippy::print_stderr, reason = "this is what the operator is told")]
fn refuse(mistakes: &Mistakes) -> ExitCode {
    eprintln!("parlor: these settings cannot be:\n{mistakes}");
    ExitCode::from(EXIT_CONFIG)
}

fn run(settings: Settings) -> Result<(), Failure> {
    let shape = settings.runtime;
    let runtime = runtime(shape)?;
    let telemetry = runtime.block_on(async { Telemetry::start(&settings) })?;
    let admin = match settings.admin_listen {
        Some(address) => Some(runtime.block_on(Admin::bind(address))?),
        None => None,
    };
    let app = runtime.block_on(App::build(settings))?;
    // Before anybody is told that it runs, and might want it to stop.
    let told_to_stop = runtime.block_on(async { stop_signals() })?;
    greet(&app, admin.as_ref());
    runtime.spawn(measure_lag());
    let stop = app.stopper();
    if let Some(admin) = admin {
        let info = Some(app.info().clone());
        runtime.spawn(admin.serve(telemetry.scraper(), info, stop.clone()));
    }
    runtime.spawn(async move {
        told_to_stop.await;
        stop.cancel();
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let others = if shape == RuntimeShape::PerCore { cores - 1 } else { 0 };
    let threads: Vec<_> = (0..others)
        .map(|_| {
            let twin = app.twin()?;
            let runtime = self::runtime(shape)?;
            runtime.spawn(measure_lag());
            Ok(std::thread::spawn(move || runtime.block_on(twin.serve())))
        })
        .collect::<Result<_, Failure>>()?;
    runtime.block_on(app.serve());
    for thread in threads {
        thread.join().map_err(|_| "a thread panicked")?;
    }
    runtime.block_on(telemetry.stop());
    runtime.shutdown_background();
    Ok(())
}

fn runtime(shape: RuntimeShape) -> std::io::Result<Runtime> {
    match shape {
        RuntimeShape::Shared => Builder::new_multi_thread(),
        RuntimeShape::PerCore => Builder::new_current_thread(),
    }
    .enable_all()
    .on_thread_park(give_back)
    .build()
}

/// Takes the signals that tell a process to stop, from now on; ends with the first. Must be called
/// within a runtime.
fn stop_signals() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Says where it listens, what the store is, and what to try next.
#[expect(clippy::print_stdout, reason = "this is what a newcomer reads first")]
fn greet(app: &App, admin: Option<&Admin>) {
    println!("parlor {} listens on {}", env!("CARGO_PKG_VERSION"), app.address());
    println!("matches are kept: {}", app.info().store());
    if let Some(admin) = admin {
        println!("metrics are at http://{}/metrics", admin.address());
    }
    let scheme = if app.is_encrypted() { "https" } else { "http" };
    println!("try next: cargo run --release -- play --server {scheme}://{}", app.address());
}
