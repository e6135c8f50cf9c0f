/* SPDX-License-Identifier: BSD-3-Clause */
/* A lock that is offered (docs/design/offers.md), for SPIN: one holds it,
 * behind it an origin that offers what it has recorded and then computes until all others are
 * through, or comes back sooner; behind that two who wait, asleep until a place is left, and perform
 * what they find. What is recorded is performed once, while its place is admitted; each place is left
 * once; and nobody waits for ever. What was taken may be given up, as if who has it had died, at any
 * time.
 *
 * To see that each part is needed, take it out, and the verification fails:
 *   -DNO_ORIGIN_FENCE  the origin looks for the grant before its offer has left its store buffer
 *   -DBLIND_TAKE       who waits takes by a store, though another may have taken meanwhile
 *   -DBLIND_BACK       the origin takes back by a store, though another may have taken meanwhile
 *   -DNO_ADMISSION     who waits takes what is not admitted
 *   -DGRANT_ALONE      the origin waits for its grant alone, which is over when its place is left
 *   -DNOTHING_GIVEN_BACK  a copy that failed leaves the word as it was taken
 *   -DBLIND_WORD       who has performed it says so by a store, though it may have been given up
 * `make model` does all of that. */

#define ORIGIN 1 /* its place; the holder's is 0 */
#define WAITERS 2

mtype = { none, offered, taken, performed };
mtype state = none;
byte departures;
byte rings;     /* of all doorbells: places left */
byte through;   /* those who wait and have had the lock */
byte times;     /* performed */
bool refused;   /* the kernel copies no more */
bool offering;  /* the store of the offer is on its way */
bool over;      /* for the origin */
bool lost;      /* what was taken has been given up */

inline leave(place)
{
    d_step { assert(departures == place); departures++ }
    rings++
}

inline perform()
{
    assert(departures == ORIGIN || lost);
    times++
}

inline take_back()
{
    !offering; /* a locked instruction */
#ifdef BLIND_BACK
    mine = state == offered;
    if
    :: mine -> state = none
    :: else
    fi
#else
    atomic {
        mine = state == offered;
        if
        :: mine -> state = none
        :: else
        fi
    }
#endif
}

active proctype holder() { leave(0) }

active proctype origin()
{
    bool mine, busy;
    if
    :: departures == ORIGIN -> skip
    :: departures < ORIGIN ->
#ifdef NO_ORIGIN_FENCE
        offering = true;
#else
        state = offered;
#endif
        if
        :: departures == ORIGIN /* it looks at once */
        :: departures != ORIGIN ->
            if /* it computes until the others are through, or not so long */
            :: busy = true
            :: busy = false
            fi;
            !busy || through == WAITERS || refused
        fi
    fi;
    do
#ifdef GRANT_ALONE
    :: departures == ORIGIN ->
#else
    :: departures == ORIGIN || state == performed ->
#endif
        take_back();
        if
        :: !mine && state == performed -> break
        :: !mine && state == taken -> state != taken
        :: !mine && state == taken -> /* it gives it up */
            atomic {
                if
                :: state == taken -> state = none; lost = true
                :: else
                fi
            }
            if
            :: lost -> leave(ORIGIN); break
            :: else
            fi
        :: mine || state == none ->
            perform();
            leave(ORIGIN);
            break
        fi
    od;
    over = true
}

#ifdef NO_ADMISSION
#define MAY_TAKE (state == offered)
#else
#define MAY_TAKE (state == offered && departures == ORIGIN)
#endif

active [WAITERS] proctype waiter()
{
    byte seen;
    byte place = _pid; /* the holder and the origin come first */
    bool mine;
    do
    :: seen = rings;
        if
        :: departures == place -> break
        :: departures != place
        fi;
        mine = false;
#ifdef BLIND_TAKE
        mine = MAY_TAKE;
        if
        :: mine -> state = taken
        :: else
        fi;
#else
        atomic {
            mine = MAY_TAKE;
            if
            :: mine -> state = taken
            :: else
            fi
        }
#endif
        if
        :: mine ->
            if
            :: !refused ->
                perform();
#ifdef BLIND_WORD
                state = performed;
#else
                atomic {
                    if
                    :: state == taken -> state = performed
                    :: else -> mine = false
                    fi
                }
#endif
                if
                :: mine -> leave(ORIGIN)
                :: else
                fi
            :: true ->
                refused = true;
#ifndef NOTHING_GIVEN_BACK
                atomic {
                    if
                    :: state == taken -> state = none
                    :: else
                    fi
                }
#endif
            fi
        :: !mine -> rings != seen /* asleep */
        fi
    od;
    leave(place);
    through++
}

/* A store buffer empties itself at any time. */
active proctype memory()
{
    end: do
    :: atomic { offering -> state = offered; offering = false }
    od
}

/* When all are through. */
active proctype judge()
{
    over && through == WAITERS;
    assert((times == 1 || lost) && departures == ORIGIN + 1 + WAITERS)
}
