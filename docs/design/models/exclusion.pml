/* SPDX-License-Identifier: BSD-3-Clause */
/* The exclusion of handlers (docs/design/active-messages.md, src/rma/active/exclusion.hpp), for
 * SPIN: two that exclude all others and two concurrent ones want in, again and again, and one of
 * the four may die inside. Never is one inside beside one that excludes it, and nobody is kept out
 * for ever by the dead.
 *
 * To see that each part is needed, take it out, and the verification fails:
 *   -DNO_SHARER_FENCE   a concurrent one looks for a holder before its slot has left its store buffer
 *   -DNO_SECOND_LOOK    it does not look again after it has said that it is there
 *   -DNO_LOOK_AT_SLOTS  the holder does not look for concurrent ones
 *   -DNOTHING_TAKEN     nobody takes the word from a dead holder
 *   -DNO_SLOT_TAKEN     nobody takes the slot from a dead concurrent one
 *   -DBLIND_TAKE        it is taken by a store, though somebody else may have taken it meanwhile
 * `make model` does all of that. */

#define VISITS 2
#define NOBODY 0 /* 1, 2: who exclude all others; 3, 4: concurrent ones */

byte holder;      /* the word in the target's block */
bool slot[5];     /* a slot in the block of each */
bool buffered[5]; /* the store of it is on its way */
bool dead[5];
bool died;
byte alone;   /* inside, of each kind */
byte sharing;

/* A stay inside, or the death there; `gone` says which. */
inline stay(counter)
{
    counter++;
    assert(alone == 0 || (alone == 1 && sharing == 0));
    atomic {
        counter--;
        if
        :: !died -> died = true; dead[me] = true; gone = true
        :: true
        fi
    }
}

/* What a dead holder has. Between the look and the deed others do the same. */
inline take_word()
{
    held = holder;
    if
    :: held != NOBODY && dead[held] ->
#ifdef BLIND_TAKE
        holder = NOBODY
#else
        atomic {
            if
            :: holder == held -> holder = NOBODY
            :: else
            fi
        }
#endif
    :: else
    fi
}

inline wait_for_word()
{
#ifdef NOTHING_TAKEN
    holder == NOBODY
#else
    do
    :: holder == NOBODY -> break
    :: holder != NOBODY && dead[holder] -> take_word()
    od
#endif
}

proctype excluding(byte me)
{
    byte visits, held, at;
    bool gone, refused;
    do
    :: gone || visits == VISITS -> break
    :: else ->
        wait_for_word();
        atomic {
            refused = holder != NOBODY;
            if
            :: !refused -> holder = me
            :: else
            fi
        }
        if
        :: !refused ->
#ifndef NO_LOOK_AT_SLOTS
            at = 3;
            do
            :: at > 4 || refused -> break
            :: else ->
                if
#ifndef NO_SLOT_TAKEN
                :: slot[at] && dead[at] -> slot[at] = false
#endif
                :: slot[at] && !dead[at] -> refused = true
#ifdef NO_SLOT_TAKEN
                :: slot[at] && dead[at] -> refused = true
#endif
                :: !slot[at]
                fi;
                at++
            od;
#endif
            if
            :: refused -> holder = NOBODY;
                if /* it tries again, later */
                :: !slot[3] && !slot[4]
#ifndef NO_SLOT_TAKEN
                :: dead[3] || dead[4]
#endif
                fi
            :: else ->
                stay(alone);
                visits++;
                if
                :: gone
                :: else -> holder = NOBODY
                fi
            fi
        :: else
        fi
    od
}

proctype concurrent(byte me)
{
    byte visits, held;
    bool gone, refused;
    do
    :: gone || visits == VISITS -> break
    :: else ->
        wait_for_word();
#ifdef NO_SHARER_FENCE
        buffered[me] = true;
#else
        slot[me] = true;
#endif
#ifdef NO_SECOND_LOOK
        refused = false;
#else
        refused = holder != NOBODY;
#endif
        if
        :: refused -> !buffered[me]; slot[me] = false
        :: else ->
            stay(sharing);
            visits++;
            if
            :: gone
            :: else -> !buffered[me]; slot[me] = false
            fi
        fi
    od
}

/* Store buffers empty themselves at any time. */
active proctype memory()
{
    end: do
    :: atomic { buffered[3] -> slot[3] = true; buffered[3] = false }
    :: atomic { buffered[4] -> slot[4] = true; buffered[4] = false }
    od
}

init
{
    atomic { run excluding(1); run excluding(2); run concurrent(3); run concurrent(4) }
}
