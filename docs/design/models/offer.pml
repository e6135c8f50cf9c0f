/* SPDX-License-Identifier: BSD-3-Clause */
/* The word of an offer (docs/design/offers.md), for SPIN: an origin
 * offers what it has recorded, or finds it granted, and then computes until its target has gone on,
 * or comes back sooner; the target posts, waits and performs what it finds. Each access is performed
 * once, while its exposure is open and its record is there; what is counted as done never falls; and
 * nobody waits for ever. Deaths are left out, and origins that open several accesses (A_A_A_R).
 *
 * To see that each part is needed, take it out, and the verification fails:
 *   -DNO_ORIGIN_FENCE  the origin looks for the grant before its offer has left its store buffer
 *   -DNO_TARGET_FENCE  the target looks for the offer before its grant has
 *   -DBLIND_TAKE       the target takes by a store, though the origin may have taken back meanwhile
 *   -DBLIND_BACK       the origin takes back by a store, though the target may have taken meanwhile
 *   -DNO_EXPOSURE      the target takes what is for an exposure that it has not opened
 *   -DDONE_LATE        the target says that it has performed before it says what is done
 *   -DNOTHING_GIVEN_BACK  a copy that failed leaves the word as it was taken
 * `make model` does all of that. */

#define ACCESSES 3

mtype = { none, offered, taken, performed };
mtype state = none;
byte number;    /* of the access that is offered */
byte granted;   /* exposures that are open, or were */
byte done;      /* accesses */
byte over;      /* exposures that the target has waited for */
bool record[ACCESSES + 1];
byte times[ACCESSES + 1]; /* performed */
bool refused;   /* the kernel copies no more */
byte offering;  /* the store of an offer is on its way */
byte granting;  /* that of a grant */

inline raise_done(to)
{
    assert(done < to);
    done = to
}

/* By the origin itself. */
inline perform_own()
{
    assert(granted >= access && record[access]);
    times[access]++;
    raise_done(access)
}

inline take_back()
{
    offering == 0; /* a locked instruction */
#ifdef BLIND_BACK
    if
    :: state == offered -> mine = true
    :: else -> mine = false
    fi;
    if
    :: mine -> state = none
    :: else
    fi
#else
    atomic {
        if
        :: state == offered -> state = none; mine = true
        :: else -> mine = false
        fi
    }
#endif
}

active proctype origin()
{
    byte access = 1;
    bool mine, busy;
    do
    :: access > ACCESSES -> break
    :: else ->
        record[access] = true;
        if
        :: granted >= access -> perform_own()
        :: else ->
            number = access;
#ifdef NO_ORIGIN_FENCE
            offering = access;
#else
            state = offered;
#endif
            if
            :: granted >= access /* it looks at once */
            :: granted < access ->
                if /* it computes until the target has gone on, or not so long */
                :: busy = true
                :: busy = false
                fi;
                !busy || over >= access || refused
            fi;
            granted >= access;
            do
            :: take_back();
                if
                :: mine -> perform_own(); break
                :: !mine && state == performed -> state = none;
                    assert(done <= access);
                    done = access; /* once more */
                    break
                :: !mine && state == none -> perform_own(); break
                :: !mine && state == taken -> state != taken
                fi
            od
        fi;
        record[access] = false;
        access++
    od
}

inline copy()
{
    if
    :: !refused ->
        assert(granted >= at && record[at]);
        times[at]++;
#ifdef DONE_LATE
        state = performed;
        raise_done(at)
#else
        raise_done(at);
        state = performed
#endif
    :: true ->
        refused = true;
#ifndef NOTHING_GIVEN_BACK
        state = none
#endif
    fi
}

/* What may be taken: the next access, and none whose exposure is not open. */
#ifdef NO_EXPOSURE
#define MAY_TAKE (state == offered && number == done + 1)
#else
#define MAY_TAKE (state == offered && number == done + 1 && number <= exposure)
#endif

active proctype target()
{
    byte exposure = 1, open, at;
    bool mine;
    do
    :: exposure > ACCESSES -> break
    :: else ->
        if /* it may open the next one, too (A_A_E_R) */
        :: open < exposure -> open = exposure
        :: open >= exposure
        :: exposure < ACCESSES -> open = exposure + 1
        fi;
#ifdef NO_TARGET_FENCE
        granting = open;
#else
        granted = open;
#endif
        if
        :: done >= exposure
        :: else ->
            mine = false;
#ifdef BLIND_TAKE
            if
            :: MAY_TAKE -> at = number; mine = true
            :: else
            fi;
            if
            :: mine -> state = taken
            :: else
            fi;
#else
            atomic {
                if
                :: MAY_TAKE -> at = number; state = taken; mine = true
                :: else
                fi
            }
#endif
            if
            :: mine -> copy()
            :: else
            fi;
            done >= exposure /* rung by whoever raises it */
        fi;
        granting == 0;
        over = exposure;
        exposure++
    od
}

/* Store buffers empty themselves at any time. */
active proctype memory()
{
    end: do
    :: atomic { offering != 0 -> state = offered; offering = 0 }
    :: atomic { granting != 0 -> granted = granting; granting = 0 }
    od
}

/* When both are through. */
active proctype judge()
{
    byte access = 1;
    over == ACCESSES && !record[1] && !record[2] && !record[3] && state == none && done == ACCESSES;
    do
    :: access > ACCESSES -> break
    :: else -> assert(times[access] == 1); access++
    od
}
