/* SPDX-License-Identifier: BSD-3-Clause */
/* The words of docs/design/interest.md, for SPIN: a neighbour that makes events happen, a program
 * that records work for them, and the thread that is called. Stores go through store buffers, as on
 * x86. Whenever nothing moves any more, no work may be recorded whose event has happened.
 *
 * To see that each part is needed, take it out, and the verification fails:
 *   -DNO_TELLER_FENCE   the neighbour reads the wish before its event has left its store buffer
 *   -DNO_OWNER_FENCE    the owner looks before its wish has left its store buffer
 *   -DNO_SECOND_LOOK    it does not look again after it has asked for something new
 *   -DNO_MARK           who finds somebody inside leaves no mark
 *   -DLATE_ANSWER       the mark is taken away after the look instead of before
 *   -DOWES_SILENTLY     who leaves owing a look leaves no mark
 * `make model` does all of that. */

#define EVENTS 2

byte happened;       /* the counter in memory: events so far */
byte teller_buffer;  /* the neighbour's store that is on its way; 0: none */
bool wanted;         /* the word: the filter, */
bool called;         /*           a look is owed, */
byte inside;         /*           who looks after things themselves, */
byte calls;          /*           and what the kernel compares */
bool wish_buffered;  /* a plain store of the wish that is on its way */
bool engine;         /* held */
bool recorded;       /* work, and for which event */
byte awaited;
bool has_owed;       /* somebody has left owing a look */
bool computes;       /* the program, for ever */

/* Buffers empty themselves at any time. */
active proctype memory()
{
    end: do
    :: atomic { teller_buffer != 0 -> happened = teller_buffer; teller_buffer = 0 }
    :: atomic { wish_buffered -> wanted = true; wish_buffered = false }
    od
}

active proctype teller()
{
    byte event = 1;
    do
    :: event > EVENTS -> break
    :: else ->
        teller_buffer == 0;
        teller_buffer = event;
#ifndef NO_TELLER_FENCE
        teller_buffer == 0; /* an atomic exchange: it has left the buffer */
#endif
        if
        :: wanted -> /* a plain load; then compare and swap */
            atomic {
                if
                :: wanted && !called && inside == 0 -> called = true; calls++
#ifndef NO_MARK
                :: wanted && !called && inside != 0 -> called = true
#endif
                :: else
                fi
            }
        :: else
        fi;
        event++
    od
}

inline look()
{
    if
    :: recorded && happened >= awaited -> recorded = false
    :: else
    fi
}

/* With the engine; `stays`: there is something to look at before. Who has looked often enough leaves
 * all the same, once here; the program calls the thread then, whose own visit ends anyway. */
inline leave(stays, summons)
{
    do
    :: true ->
#ifdef NO_OWNER_FENCE
        if
        :: recorded && !wanted && !wish_buffered -> wish_buffered = true; look()
        :: else
        fi;
#endif
        atomic {
            stays = called;
#if !defined(NO_SECOND_LOOK) && !defined(NO_OWNER_FENCE)
            stays = stays || (recorded && !wanted);
#endif
#ifdef NO_OWNER_FENCE
            if
            :: !recorded && !wish_buffered -> wanted = false
            :: else
            fi;
#else
            wanted = recorded;
#endif
            called = false;
            if
            :: stays
            :: else -> inside--; break
            fi
        };
        if
        :: look()
        :: !has_owed ->
            has_owed = true;
#ifndef OWES_SILENTLY
            called = true;
#endif
            inside--;
            calls = calls + summons;
            break
        fi
    od
}

active proctype program()
{
    byte events = 0;
    bool stays;
    do
    :: events == EVENTS -> break
    :: events < EVENTS ->
        atomic { !engine -> engine = true };
        inside++;
        if
        :: !recorded -> /* the last look has not found it: it is recorded */
            events++;
            if
            :: happened >= events
            :: else -> awaited = events; recorded = true
            fi
        :: true -> look()
        fi;
        leave(stays, 1);
        engine = false
    od;
    computes = true
}

active proctype thread()
{
    byte visit;
    bool stays;
    do
    :: true ->
        visit = calls;
        if
        :: called
        :: else ->
            end_asleep: calls != visit
        fi;
        atomic { !engine -> engine = true };
        inside++;
#ifdef LATE_ANSWER
        look();
        called = false;
#else
        called = false;
        look();
#endif
        leave(stays, 0);
        engine = false
    od
}

/* Nothing moves any more. */
active proctype nobody_is_forgotten()
{
    end: timeout -> assert(computes && !(recorded && happened >= awaited))
}
