module TwoPhaseCommit = union { Coordinator, Participant }, Timers;
module TwoPhaseCommitEager = union { Coordinator, EagerParticipant -> Participant }, Timers;
