/* Two-phase commit with N participants, at most 7. A handler is one transition; a timeout is
 * pending in everybody's first state. The start of the processes is one state and one transition
 * more than the model has. */

#ifndef N
#define N 6
#endif

mtype = { Prepare, Yes, No, Commit, Abort };
mtype = { Init, Ready, Committed, Aborted };

chan inbox[N] = [2] of { mtype };
chan answers[N] = [1] of { mtype };
byte committed, aborted;

proctype participant(byte i)
{
	mtype phase = Init;
	mtype message;

	do
	:: d_step {
		phase == Init -> phase = Aborted; aborted++;
		assert(committed == 0)
	}
	:: d_step {
		inbox[i] ? message ->
		if
		:: message == Prepare && phase == Init -> phase = Ready; answers[i] ! Yes
		:: message == Prepare && phase == Aborted -> answers[i] ! No
		:: message == Commit ->
			committed = committed + (phase != Committed);
			aborted = aborted - (phase == Aborted);
			phase = Committed;
			assert(aborted == 0)
		:: message == Abort ->
			aborted = aborted + (phase != Aborted);
			committed = committed - (phase == Committed);
			phase = Aborted;
			assert(committed == 0)
		:: else
		fi;
		message = 0
	}
	od
}

inline tell(decision)
{
	k = 0;
	do
	:: k < N -> inbox[k] ! decision; k++
	:: else -> break
	od;
	k = 0
}

inline vote()
{
	if
	:: phase == Init && message == Yes ->
		yes++;
		if
		:: yes == N -> phase = Committed; tell(Commit)
		:: else
		fi
	:: phase == Init && message == No -> phase = Aborted; tell(Abort)
	:: else
	fi;
	message = 0
}

init
{
	mtype phase = Init;
	mtype message;
	byte yes, k;

	atomic {
		do
		:: k < N -> inbox[k] ! Prepare; run participant(k); k++
		:: else -> break
		od;
		k = 0
	}
	do
	:: d_step { phase == Init -> phase = Aborted; tell(Abort) }
	:: d_step { answers[0] ? message -> vote() }
	:: d_step { answers[1] ? message -> vote() }
	:: d_step { answers[2] ? message -> vote() }
#if N > 3
	:: d_step { answers[3] ? message -> vote() }
#endif
#if N > 4
	:: d_step { answers[4] ? message -> vote() }
#endif
#if N > 5
	:: d_step { answers[5] ? message -> vote() }
#endif
#if N > 6
	:: d_step { answers[6] ? message -> vote() }
#endif
	od
}
