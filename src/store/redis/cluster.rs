//! A cluster: which node serves which slot, kept up to date, and lanes to each of the nodes.
//!
//! What moves is found by the nodes' own answers: who is sent elsewhere goes there at once, and the map
//! is drawn anew meanwhile, by one task for all. A command whose outcome is not known is never sent a
//! second time from here.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::{Cmd, Value};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::address::Host;
use super::client::each;
use super::connection::{Connection, Target};
use super::errors::Failure;
use super::lanes::{Keeping, Lanes};
use super::replies;
use super::scripts::Script;
use super::tasks::BackOff;
use crate::store::{Result, StoreError};

/// How many slots every cluster has.
const SLOTS: u16 = 16_384;

/// So often a command is sent on to another node.
const REDIRECTIONS: usize = 4;

/// The map is drawn anew so often even if nothing seems wrong: who looks at a slot is told when it
/// moves, but a node that is new or gone is not heard of.
const DRAWN_EVERY: Duration = Duration::from_secs(30);

/// The nodes of a cluster.
#[derive(Debug)]
pub(super) struct Cluster {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    keeping: Keeping,
    /// Who is asked when no node that is known answers.
    seeds: Vec<Host>,
    map: Mutex<Map>,
    /// Something did not lie where the map says.
    wrong: Notify,
}

#[derive(Debug, Default)]
struct Map {
    /// Slots from which to which, in ascending order, and where they lie.
    ranges: Vec<(u16, u16, Host)>,
    nodes: BTreeMap<Host, Arc<Lanes>>,
}

impl Map {
    fn owner(&self, slot: u16) -> Option<&Host> {
        let after = self.ranges.partition_point(|&(first, ..)| first <= slot);
        let (_, last, host) = self.ranges.get(after.checked_sub(1)?)?;
        (slot <= *last).then_some(host)
    }
}

impl Cluster {
    /// Asks the seeds for the map, and keeps it up to date.
    ///
    /// # Errors
    ///
    /// None of them answers.
    pub(super) async fn open(seeds: Vec<Host>, keeping: Keeping) -> Result<Self> {
        let shared = Shared { keeping, seeds, map: Mutex::default(), wrong: Notify::new() };
        let shared = Arc::new(shared);
        let ranges = shared.draw(0).await?;
        shared.replace(ranges);
        shared.keeping.tasks.spawn(Arc::clone(&shared).keep_drawing());
        Ok(Self { shared })
    }

    /// Every node that serves slots.
    pub(super) fn nodes(&self) -> Vec<(Host, Arc<Lanes>)> {
        let map = self.shared.map();
        map.nodes.iter().map(|(host, lanes)| (host.clone(), Arc::clone(lanes))).collect()
    }

    /// Runs a script where its keys lie.
    pub(super) async fn run(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> std::result::Result<Value, Failure> {
        let slot = keys.first().map_or(0, |key| slot_of(key.as_bytes()));
        let mut lanes = self.serving(slot).map_err(Failure::Final)?;
        let (mut asking, mut redirections, mut again) = (false, 0, true);
        loop {
            let answer = lanes.run(script, keys, arguments, asking).await;
            redirections += 1;
            match answer {
                Err(Failure::Moved(to)) if redirections <= REDIRECTIONS => {
                    self.shared.wrong.notify_one();
                    (lanes, asking) = (self.shared.lanes(&to), false);
                }
                Err(Failure::Ask(to)) if redirections <= REDIRECTIONS => {
                    (lanes, asking) = (self.shared.lanes(&to), true);
                }
                Err(Failure::Elsewhere(_)) if again => {
                    self.shared.wrong.notify_one();
                    again = false;
                    (lanes, asking) = (self.serving(slot).map_err(Failure::Final)?, false);
                }
                Ok(answer) => return Ok(answer),
                Err(failure) => {
                    self.shared.wrong.notify_one();
                    return Err(failure);
                }
            }
        }
    }

    /// Asks each question where its key lies, all nodes at once.
    pub(super) async fn look(&self, questions: &[(String, Cmd)]) -> Vec<Result<Value>> {
        let unserved = StoreError::Failover("the slot is not served".to_owned());
        let mut answers = vec![Err(unserved); questions.len()];
        let mut by_node: BTreeMap<Host, Vec<usize>> = BTreeMap::new();
        {
            let map = self.shared.map();
            for (index, (key, _)) in questions.iter().enumerate() {
                if let Some(host) = map.owner(slot_of(key.as_bytes())) {
                    by_node.entry(host.clone()).or_default().push(index);
                }
            }
        }
        let asked = by_node.into_iter().map(async |(host, indices)| {
            let commands: Vec<_> = indices.iter().map(|&index| &questions[index].1).collect();
            let answers = each(&self.shared.lanes(&host), &commands).await;
            indices.into_iter().zip(answers).collect::<Vec<_>>()
        });
        for (index, answer) in futures_util::future::join_all(asked).await.into_iter().flatten() {
            answers[index] = answer.and_then(replies::refused);
        }
        if answers.iter().any(Result::is_err) {
            self.shared.wrong.notify_one();
        }
        answers
    }

    fn serving(&self, slot: u16) -> Result<Arc<Lanes>> {
        let owner = self.shared.map().owner(slot).cloned();
        let Some(owner) = owner else {
            self.shared.wrong.notify_one();
            return Err(StoreError::Failover(format!("no node serves slot {slot}")));
        };
        Ok(self.shared.lanes(&owner))
    }
}

impl Shared {
    fn map(&self) -> MutexGuard<'_, Map> {
        // Nobody leaves it half changed, so a panic elsewhere does not spoil it.
        self.map.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lanes to a node, which are opened if there are none.
    fn lanes(&self, host: &Host) -> Arc<Lanes> {
        let mut map = self.map();
        if let Some(lanes) = map.nodes.get(host) {
            return Arc::clone(lanes);
        }
        let lanes = Arc::new(Lanes::open(&self.keeping, &Target::PrimaryAt(host.clone()), None));
        map.nodes.insert(host.clone(), Arc::clone(&lanes));
        lanes
    }

    fn replace(&self, ranges: Vec<(u16, u16, Host)>) {
        let serving: BTreeSet<Host> = ranges.iter().map(|(_, _, host)| host.clone()).collect();
        let mut map = self.map();
        map.nodes.retain(|host, _| serving.contains(host));
        map.ranges = ranges;
        drop(map);
        for host in &serving {
            self.lanes(host);
        }
    }

    async fn keep_drawing(self: Arc<Self>) {
        let mut back_off = BackOff::new();
        for attempt in 1.. {
            let _ = tokio::time::timeout(DRAWN_EVERY, self.wrong.notified()).await;
            let began = Instant::now();
            match self.draw(attempt).await {
                Ok(ranges) => {
                    let changed = self.map().ranges != ranges;
                    if changed {
                        tracing::info!("the cluster's slots lie elsewhere now");
                        self.replace(ranges);
                    }
                }
                Err(error) => tracing::warn!(%error, "no node of the cluster answers"),
            }
            back_off.after(began).await;
        }
    }

    /// Asks one node after the other, beginning with another one each time: one may be cut off and
    /// not know it.
    async fn draw(&self, attempt: usize) -> Result<Vec<(u16, u16, Host)>> {
        let mut hosts: Vec<Host> = self.map().nodes.keys().cloned().collect();
        hosts.extend(self.seeds.iter().cloned());
        let first = attempt % hosts.len().max(1);
        hosts.rotate_left(first);
        let mut error = StoreError::Unavailable("there is no node".to_owned());
        for host in hosts {
            match self.ask(host).await {
                Ok(found) => return Ok(found),
                Err(failed) => error = failed,
            }
        }
        Err(error)
    }

    async fn ask(&self, host: Host) -> Result<Vec<(u16, u16, Host)>> {
        let Keeping { settings, tasks, .. } = &self.keeping;
        let target = Target::Anyone(host.clone());
        let connection = Connection::open(settings, target, tasks, |_| ()).await?;
        let mut question = redis::pipe();
        question.cmd("CLUSTER").arg("SLOTS");
        let answers = connection.send_all(&question).await;
        connection.give_up(StoreError::Unavailable("the question is answered".to_owned()));
        let answer = answers?.pop().unwrap_or(Value::Nil);
        let ranges = replies::slots(answer, &host)?;
        if ranges.is_empty() {
            return Err(StoreError::Failover(format!("{host} knows of no slot that is served")));
        }
        Ok(ranges)
    }
}

/// The slot that a key lies in: a checksum (CRC-16/XMODEM) of the part in the first braces, or else of
/// all of it.
fn slot_of(key: &[u8]) -> u16 {
    let tag = key.iter().position(|&byte| byte == b'{').and_then(|open| {
        let rest = &key[open + 1..];
        let close = rest.iter().position(|&byte| byte == b'}')?;
        (close > 0).then_some(&rest[..close])
    });
    let checksum = tag.unwrap_or(key).iter().fold(0_u16, |checksum, &byte| {
        (0..8).fold(checksum ^ (u16::from(byte) << 8), |checksum, _| {
            let shifted = checksum << 1;
            if checksum & 0x8000 == 0 { shifted } else { shifted ^ 0x1021 }
        })
    });
    checksum % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_specification() {
        assert_eq!(slot_of(b"123456789"), 0x31c3);
        assert_eq!(slot_of(b"foo{bar}{zap}"), slot_of(b"bar"));
        assert_eq!(slot_of(b"foo{{bar}}zap"), slot_of(b"{bar"));
        assert_ne!(slot_of(b"foo{}{bar}"), slot_of(b"bar"));
    }

    #[test]
    fn a_slot_outside_of_all_ranges_has_no_owner() {
        let (a, b) = (Host::new("a", 1), Host::new("b", 1));
        let ranges = vec![(0, 9, a.clone()), (20, 29, b.clone())];
        let map = Map { ranges, nodes: BTreeMap::new() };
        let owners = [0, 9, 10, 19, 20, 29, 30].map(|slot| map.owner(slot));
        assert_eq!(owners, [Some(&a), Some(&a), None, None, Some(&b), Some(&b), None]);
    }
}
