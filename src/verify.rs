//! `parlor verify`: recomputes the deals of a finished match from what a client was given.

use crate::cli::VerifyArgs;
use crate::client::Followed;
use crate::dial::dial;
use crate::games::wire::Wire as _;
use crate::games::{AnyGame, AnyOptions};
use crate::proto;
use crate::proto::event::Event as EventArm;
use crate::rules::{BySeat, Entropy, Game as _, Seed, Setup, Viewer};

/// Why the verification did not come out well.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// The secret is not yet revealed.
    #[error("the match is not over: its secret is not revealed yet")]
    NotOver,
    /// What was given makes no sense.
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(&'static str),
    /// The secret is not the one that was committed to.
    #[error("the secret is not the one that was committed to")]
    Commitment,
    /// A deal was not what the secret makes it.
    #[error("deal {0} was not what the secret makes it")]
    Deal(u32),
}

/// Verifies as the command line says, and tells what was found.
///
/// # Errors
/// The server's, or a [`Mismatch`].
#[expect(clippy::print_stdout, reason = "this is what the command is for")]
pub async fn verify(args: VerifyArgs) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let at = dial(&args.at)?.at(&args.match_id, args.token.as_deref())?;
    let finished = at.get_match().await?;
    let noted = args.commitment.as_deref().map(hex::decode).transpose()?;
    let seat = at.view().await?.seat;

    let mut events = Vec::new();
    let mut follow = at.follow_from_the_start();
    while finished.state() == proto::MatchState::Over
        && let Some(told) = follow.next().await?
    {
        if let Followed::Update { events: more, .. } = told {
            events.extend(more);
        }
    }
    let deals = check(&finished, seat, &events, noted.as_deref())?;
    println!("the secret is the one that was committed to");
    println!("{deals} deals were made again and are what the match showed");
    Ok(())
}

/// Makes the deals of a finished match again and compares them with the events that the viewer at
/// `seat`, or a spectator, was shown from the first version on. Says how many deals there were.
///
/// # Errors
/// The first thing that is not as it should be.
pub fn check(
    finished: &proto::Match,
    seat: Option<u32>,
    events: &[proto::Event],
    noted_commitment: Option<&[u8]>,
) -> Result<u32, Mismatch> {
    let secret = match <[u8; 32]>::try_from(&finished.secret[..]) {
        Ok(secret) => Seed::new(secret),
        Err(_) if finished.secret.is_empty() => return Err(Mismatch::NotOver),
        Err(_) => return Err(Mismatch::Unreadable("a secret has 32 bytes")),
    };
    let started = events.iter().find_map(|event| match &event.event {
        Some(EventArm::MatchStarted(started)) => Some(&started.commitment[..]),
        _ => None,
    });
    let published = [Some(&finished.commitment[..]), started, noted_commitment];
    if published.into_iter().flatten().any(|published| published != secret.commitment()) {
        return Err(Mismatch::Commitment);
    }

    let (setup, seed) = setup(finished, secret)?;
    let viewer = match seat.map(|seat| setup.seats().seat(seat)) {
        Some(seat) => Viewer::Seat(seat.ok_or(Mismatch::Unreadable("no such seat"))?),
        None => Viewer::Spectator,
    };
    let shown = events.iter().filter_map(|event| match &event.event {
        Some(EventArm::Game(event)) if AnyGame::is_deal(event) => Some(event),
        _ => None,
    });
    let mut shown = shown.peekable();
    let mut deal = 0;
    while shown.peek().is_some() {
        let mut dealt = Vec::new();
        AnyGame::redeal(&setup, &seed, deal, &mut dealt);
        for event in dealt.iter().filter_map(|event| AnyGame::seen(event, viewer)) {
            if shown.next() != Some(&AnyGame::write_event(&event)) {
                return Err(Mismatch::Deal(deal));
            }
        }
        deal += 1;
    }
    if deal == 0 {
        return Err(Mismatch::Unreadable("no deal was shown"));
    }
    Ok(deal)
}

/// What the match was played with, and the seed that its secret and its players' entropy make.
fn setup(finished: &proto::Match, secret: Seed) -> Result<(Setup<AnyOptions>, Seed), Mismatch> {
    let unset = proto::GameOptions::default();
    let options = AnyGame::read_options(finished.options.as_ref().unwrap_or(&unset))
        .map_err(|_| Mismatch::Unreadable("options of no game that is known here"))?;
    let entropy: Vec<Entropy> = finished.seats.iter().map(|seat| seat.entropy.clone()).collect();
    let entropy = BySeat::from_vec(entropy).ok_or(Mismatch::Unreadable("too many seats"))?;
    let setup = Setup::new::<AnyGame>(options, entropy.seats())
        .map_err(|_| Mismatch::Unreadable("options that do not fit the table"))?;
    Ok((setup, secret.with_entropy(&entropy)))
}
