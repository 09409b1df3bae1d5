//! Where commands go: to the one primary, or to the node of a cluster that serves a key.

use redis::{Cmd, Pipeline, Value};

use super::address::{Host, Place};
use super::cluster::Cluster;
use super::connection::{Connection, Target};
use super::errors::Failure;
use super::lanes::{Keeping, Lanes};
use super::replies;
use super::scripts::Script;
use crate::store::Result;

/// Sends commands to where they belong.
#[derive(Debug)]
pub(super) enum Client {
    /// All to the one primary.
    One(Lanes),
    /// Each to the node that serves its key.
    Cluster(Cluster),
}

impl Client {
    /// Opens the connections and keeps them open.
    ///
    /// # Errors
    ///
    /// The server cannot be reached, or refuses.
    pub(super) async fn open(keeping: Keeping) -> Result<Self> {
        let Keeping { settings, tasks, .. } = &keeping;
        match &settings.address.place {
            Place::Here(_) | Place::Sentinels { .. } => {
                let first = Connection::open(settings, Target::Primary, tasks, |_| ()).await?;
                Ok(Self::One(Lanes::open(&keeping, &Target::Primary, Some(first))))
            }
            Place::Cluster(seeds) => {
                Ok(Self::Cluster(Cluster::open(seeds.clone(), keeping.clone()).await?))
            }
        }
    }

    /// Runs a script on its keys, of which there is at least one and all lie together. It is run
    /// again, once, if it is certain that it changed nothing and another connection may do better.
    pub(super) async fn run(
        &self,
        script: &Script,
        keys: &[String],
        arguments: &[&[u8]],
    ) -> Result<Value> {
        let answer = match self {
            Self::One(lanes) => match lanes.run(script, keys, arguments, false).await {
                Err(Failure::Elsewhere(_)) => lanes.run(script, keys, arguments, false).await,
                answer => answer,
            },
            Self::Cluster(cluster) => cluster.run(script, keys, arguments).await,
        };
        answer.map_err(Failure::into_error)
    }

    /// Sends commands that only look, each with the key that it looks at. Each has its answer, in
    /// this order.
    pub(super) async fn look(&self, questions: &[(String, Cmd)]) -> Vec<Result<Value>> {
        match self {
            Self::One(lanes) => {
                let all: Vec<_> = questions.iter().map(|(_, question)| question).collect();
                each(lanes, &all).await
            }
            Self::Cluster(cluster) => cluster.look(questions).await,
        }
    }

    /// Asks every primary the same; each has its answers.
    pub(super) async fn look_everywhere(
        &self,
        questions: &Pipeline,
    ) -> Vec<Result<(Host, Vec<Value>)>> {
        match self {
            Self::One(lanes) => vec![lanes.look(questions).await],
            Self::Cluster(cluster) => {
                let nodes = cluster.nodes();
                let answers = nodes.iter().map(|(_, lanes)| lanes.look(questions));
                futures_util::future::join_all(answers).await
            }
        }
    }

    /// Where announcements can be heard. In a cluster, every node hears of all.
    pub(super) fn announcer(&self, attempt: usize) -> Target {
        match self {
            Self::One(_) => Target::Primary,
            Self::Cluster(cluster) => {
                let nodes: Vec<Host> = cluster.nodes().into_iter().map(|(host, _)| host).collect();
                match nodes.get(attempt % nodes.len().max(1)) {
                    Some(host) => Target::PrimaryAt(host.clone()),
                    None => Target::Primary,
                }
            }
        }
    }
}

/// Sends commands at once; each has its answer.
pub(super) async fn each(lanes: &Lanes, commands: &[&Cmd]) -> Vec<Result<Value>> {
    let mut all = redis::pipe();
    for command in commands {
        all.add_command((*command).clone());
    }
    match lanes.look(&all).await {
        Ok((_, answers)) if answers.len() == commands.len() => {
            answers.into_iter().map(Ok).collect()
        }
        Ok(_) => {
            let missing = replies::strange("one for each command");
            vec![Err(missing); commands.len()]
        }
        Err(error) => vec![Err(error); commands.len()],
    }
}
