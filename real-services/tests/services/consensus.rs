//! openraft with its store in memory: three nodes that call each other directly.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openraft::error::{InstallSnapshotError, RPCError, RaftError, RemoteError, Unreachable};
use openraft::network::{RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, InstallSnapshotRequest, InstallSnapshotResponse,
    VoteRequest, VoteResponse,
};
use openraft::storage::Adaptor;
use openraft::{Config, Raft, ServerState};
use openraft_memstore::{ClientRequest, IntoMemClientRequest, MemStore, TypeConfig};

type Node = Raft<TypeConfig>;
type Failed<E = openraft::error::Infallible> = RPCError<u64, (), RaftError<u64, E>>;

/// Who is there, and who is not reached for a while.
#[derive(Clone, Default)]
struct Router(Arc<Mutex<Routes>>);

#[derive(Default)]
struct Routes {
    nodes: BTreeMap<u64, Node>,
    away: Option<u64>,
}

impl Router {
    fn node(&self, id: u64) -> Node {
        self.0.lock().unwrap().nodes[&id].clone()
    }
}

struct Way {
    router: Router,
    from: u64,
    to: u64,
}

impl Way {
    fn target(&self) -> Result<Node, Unreachable> {
        let away = self.router.0.lock().unwrap().away;
        match away {
            Some(away) if away == self.from || away == self.to => {
                Err(Unreachable::new(&std::io::Error::from(std::io::ErrorKind::HostUnreachable)))
            }
            _ => Ok(self.router.node(self.to)),
        }
    }
}

struct Ways {
    router: Router,
    from: u64,
}

impl RaftNetworkFactory<TypeConfig> for Ways {
    type Network = Way;

    async fn new_client(&mut self, to: u64, (): &()) -> Way {
        Way { router: self.router.clone(), from: self.from, to }
    }
}

impl RaftNetwork<TypeConfig> for Way {
    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<TypeConfig>,
        _: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, Failed> {
        let answer = self.target()?.append_entries(rpc).await;
        answer.map_err(|why| RPCError::RemoteError(RemoteError::new(self.to, why)))
    }

    async fn install_snapshot(
        &mut self,
        rpc: InstallSnapshotRequest<TypeConfig>,
        _: RPCOption,
    ) -> Result<InstallSnapshotResponse<u64>, Failed<InstallSnapshotError>> {
        let answer = self.target()?.install_snapshot(rpc).await;
        answer.map_err(|why| RPCError::RemoteError(RemoteError::new(self.to, why)))
    }

    async fn vote(
        &mut self,
        rpc: VoteRequest<u64>,
        _: RPCOption,
    ) -> Result<VoteResponse<u64>, Failed> {
        let answer = self.target()?.vote(rpc).await;
        answer.map_err(|why| RPCError::RemoteError(RemoteError::new(self.to, why)))
    }
}

async fn cluster() -> (Router, BTreeMap<u64, Arc<MemStore>>) {
    // The timeout of an election is drawn by a generator that outlives a schedule, and here has one number to
    // draw. So elections are begun by hand.
    let config = Config {
        election_timeout_min: 300,
        election_timeout_max: 301,
        heartbeat_interval: 100,
        enable_elect: false,
        ..Config::default()
    };
    let config = Arc::new(config.validate().unwrap());
    let (router, mut stores) = (Router::default(), BTreeMap::new());
    for id in 0..3 {
        let store = MemStore::new_async().await;
        let (log, machine) = Adaptor::new(Arc::clone(&store));
        let ways = Ways { router: router.clone(), from: id };
        let node = Raft::new(id, Arc::clone(&config), ways, log, machine).await.unwrap();
        router.0.lock().unwrap().nodes.insert(id, node);
        stores.insert(id, store);
    }
    router.node(0).initialize(BTreeMap::from([(0, ()), (1, ()), (2, ())])).await.unwrap();
    router.node(0).wait(None).state(ServerState::Leader, "the first leader").await.unwrap();
    (router, stores)
}

#[tokio::test]
async fn what_was_written_is_applied_by_all() {
    let (router, stores) = cluster().await;
    let written =
        router.node(0).client_write(ClientRequest::make_request("client", 1)).await.unwrap();
    for (id, store) in &stores {
        let node = router.node(*id);
        node.wait(None).applied_index_at_least(Some(written.log_id.index), "").await.unwrap();
        let state = store.get_state_machine().await;
        assert_eq!(state.client_status["client"], "request-1", "at node {id}");
    }
}

/// Somebody else is elected while the leader is cut off. What a client was told is written stays written.
#[tokio::test]
async fn what_was_acknowledged_outlives_its_leader() {
    let (router, stores) = cluster().await;
    let writer = router.node(0);
    let write = tokio::spawn(async move {
        writer.client_write(ClientRequest::make_request("client", 1)).await.is_ok()
    });
    router.0.lock().unwrap().away = Some(0);
    // Whoever has what the majority has can win.
    let mut candidates = [1, 2].into_iter().cycle();
    let leader = loop {
        let candidate = router.node(candidates.next().unwrap());
        candidate.trigger().elect().await.unwrap();
        let elected = candidate.wait(Some(Duration::from_secs(1)));
        if elected.state(ServerState::Leader, "the second leader").await.is_ok() {
            break candidate;
        }
    };
    let second = leader.client_write(ClientRequest::make_request("other", 2)).await.unwrap();
    router.0.lock().unwrap().away = None;
    let acknowledged = write.await.unwrap();
    for (id, store) in &stores {
        let node = router.node(*id);
        node.wait(None).applied_index_at_least(Some(second.log_id.index), "").await.unwrap();
        let state = store.get_state_machine().await;
        assert_eq!(state.client_status["other"], "request-2", "at node {id}");
        if acknowledged {
            let kept = state.client_status.get("client").map(String::as_str);
            assert_eq!(kept, Some("request-1"), "at node {id}");
        }
    }
}
