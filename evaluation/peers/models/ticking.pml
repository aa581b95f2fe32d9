/* The election in a ring of N, as in ring.pml, with a clock that ticks for ever beside it. Under
   weak fairness somebody is elected all the same. */

#ifndef N
#define N 7
#endif

chan channel[N] = [8] of { byte };
byte leaders;

active [N] proctype process()
{
	bit started, done, leader;
	byte message;

	do
	:: d_step { !started -> started = 1; channel[(_pid + 1) % N] ! N - _pid }
	:: d_step {
		channel[_pid] ? message ->
		if
		:: message > N - _pid -> channel[(_pid + 1) % N] ! message
		:: message == N - _pid ->
			leader = 1; done = 1; leaders++;
			assert(leaders == 1);
			channel[(_pid + 1) % N] ! 0
		:: message == 0 && !done -> done = 1; channel[(_pid + 1) % N] ! 0
		:: else
		fi;
		message = 0
	}
	od
}

active proctype ticker()
{
	bit tick;

	do
	:: d_step { tick = 1 - tick }
	od
}

ltl elected { <> (leaders == 1) }
