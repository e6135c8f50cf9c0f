// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <vector>

#include "base/list.hpp"
#include "base/pool.hpp"
#include "fabric/sim/random.hpp"

namespace sidelight {
namespace {

using fabric::sim::Random;

struct Node {
    Node* next = nullptr;
    Links<Node> links;
    int number = 0;
    std::vector<int> kept;
};

using Linked = List<Node, &Node::links>;

std::vector<int> numbers(const Linked& list)
{
    std::vector<int> result;
    for (const Node* node = list.front(); node != nullptr; node = Linked::after(*node)) {
        result.push_back(node->number);
    }
    return result;
}

std::vector<int> drain(Fifo<Node>& fifo)
{
    std::vector<int> result;
    while (!fifo.empty()) {
        result.push_back(fifo.pop()->number);
    }
    return result;
}

TEST(Fifo, GivesBackInTheOrderItWasGiven)
{
    std::array<Node, 3> nodes;
    Fifo<Node> fifo;
    EXPECT_TRUE(fifo.empty());
    EXPECT_EQ(fifo.front(), nullptr);
    for (Node& node : nodes) {
        fifo.push(&node);
    }
    EXPECT_EQ(fifo.pop(), &nodes[0]);
    fifo.push(&nodes[0]);
    EXPECT_EQ(fifo.front(), &nodes[1]);
    EXPECT_EQ(fifo.pop(), &nodes[1]);
    EXPECT_EQ(fifo.pop(), &nodes[2]);
    EXPECT_EQ(fifo.pop(), &nodes[0]);
    EXPECT_TRUE(fifo.empty());
    fifo.push(&nodes[2]); // the last pop has left no last one behind
    EXPECT_EQ(fifo.pop(), &nodes[2]);
}

TEST(Fifo, RemovesWhatIsGoneAndKeepsTheOrder)
{
    for (int pattern = 0; pattern < 64; ++pattern) {
        std::array<Node, 6> nodes;
        Fifo<Node> fifo;
        std::vector<int> expected;
        for (int i = 0; i < 6; ++i) {
            nodes[static_cast<std::size_t>(i)].number = i;
            fifo.push(&nodes[static_cast<std::size_t>(i)]);
            if ((pattern >> i & 1) == 0) {
                expected.push_back(i);
            }
        }
        fifo.remove_if([pattern](Node& node) { return (pattern >> node.number & 1) != 0; });
        Node last;
        last.number = 6;
        expected.push_back(6);
        fifo.push(&last);
        ASSERT_EQ(drain(fifo), expected);
    }
}

TEST(Fifo, WhatIsGoneMayBeGivenAway)
{
    std::array<Node, 4> nodes;
    Fifo<Node> fifo;
    Fifo<Node> other;
    for (int i = 0; i < 4; ++i) {
        nodes[static_cast<std::size_t>(i)].number = i;
        fifo.push(&nodes[static_cast<std::size_t>(i)]);
    }
    fifo.remove_if([&other](Node& node) {
        if (node.number % 2 == 0) {
            other.push(&node);
        }
        return node.number % 2 == 0;
    });
    EXPECT_EQ(drain(fifo), (std::vector<int>{1, 3}));
    EXPECT_EQ(drain(other), (std::vector<int>{0, 2}));
}

TEST(List, LosesAndGainsAnywhere)
{
    std::array<Node, 8> nodes;
    std::deque<int> expected;
    Linked list;
    Random random(3);
    for (int i = 0; i < 8; ++i) {
        nodes[static_cast<std::size_t>(i)].number = i;
    }
    for (int round = 0; round < 10'000; ++round) {
        Node& node = nodes[random.below(8)];
        const auto found = std::find(expected.begin(), expected.end(), node.number);
        if (found != expected.end()) {
            list.remove(&node);
            expected.erase(found);
            ASSERT_EQ(node.links.before, nullptr);
            ASSERT_EQ(node.links.after, nullptr);
        } else {
            const auto at = static_cast<std::ptrdiff_t>(random.below(expected.size() + 1));
            const auto behind = expected.begin() + at;
            list.insert_before(&node, behind != expected.end()
                                          ? &nodes[static_cast<std::size_t>(*behind)]
                                          : nullptr);
            expected.insert(behind, node.number);
        }
        ASSERT_EQ(numbers(list), std::vector<int>(expected.begin(), expected.end()));
        ASSERT_EQ(list.empty(), expected.empty());
    }
}

TEST(List, VisitsAllThoughSomeLeave)
{
    std::array<Node, 5> nodes;
    Linked list;
    for (int i = 0; i < 5; ++i) {
        nodes[static_cast<std::size_t>(i)].number = i;
        list.push(&nodes[static_cast<std::size_t>(i)]);
    }
    std::vector<int> visited;
    list.for_each([&](Node& node) {
        visited.push_back(node.number);
        if (node.number % 2 == 0) {
            list.remove(&node);
        }
    });
    EXPECT_EQ(visited, (std::vector<int>{0, 1, 2, 3, 4}));
    EXPECT_EQ(numbers(list), (std::vector<int>{1, 3}));
}

TEST(Pool, GivesOutNoObjectTwice)
{
    Pool<Node> pool;
    std::set<Node*> taken;
    for (int i = 0; i < 1000; ++i) {
        Node* node = pool.take();
        ASSERT_NE(node, nullptr);
        ASSERT_EQ(node->next, nullptr);
        ASSERT_TRUE(taken.insert(node).second);
    }
    for (Node* node : taken) {
        pool.give_back(node);
    }
    std::set<Node*> again;
    for (int i = 0; i < 1000; ++i) {
        Node* node = pool.take();
        ASSERT_EQ(taken.count(node), 1U); // no new memory while there is old
        ASSERT_TRUE(again.insert(node).second);
    }
}

/// What is in use stays where it is; what is idle, in slabs of which nothing is in use, goes.
TEST(Pool, ShrinksToWhatIsInUse)
{
    struct Counted {
        static int& living()
        {
            static int count = 0;
            return count;
        }
        Counted() { ++living(); }
        ~Counted() { --living(); }
        int number = 0;
        Counted* next = nullptr;
    };
    constexpr int many = 100'000;
    Pool<Counted> pool;
    std::vector<Counted*> taken;
    for (int number = 0; number < many; ++number) {
        taken.push_back(pool.take());
        taken.back()->number = number;
    }
    pool.shrink();
    EXPECT_GE(Counted::living(), many);
    std::vector<Counted*> kept;
    for (Counted* one : taken) {
        one->number % 1000 == 7 ? kept.push_back(one) : pool.give_back(one);
    }
    pool.shrink();
    EXPECT_LE(Counted::living(), many / 1000 * 64);
    for (std::size_t index = 0; index < kept.size(); ++index) {
        EXPECT_EQ(kept[index]->number, static_cast<int>(index) * 1000 + 7);
    }
    std::set<Counted*> all(kept.begin(), kept.end());
    for (int number = 0; number < many; ++number) {
        EXPECT_TRUE(all.insert(pool.take()).second); // none that is in use
    }
}

/// It costs nothing where little is idle.
TEST(Pool, KeepsWhatIsLittle)
{
    Pool<Node> pool;
    Node* node = pool.take();
    pool.give_back(node);
    pool.shrink();
    EXPECT_EQ(pool.take(), node);
}

TEST(Pool, AnObjectKeepsItsState)
{
    Pool<Node> pool;
    Node* node = pool.take();
    node->number = 42;
    node->kept.reserve(100);
    pool.give_back(node);
    Node* again = pool.take();
    EXPECT_EQ(again, node);
    EXPECT_EQ(again->number, 42);
    EXPECT_GE(again->kept.capacity(), 100U);
}

} // namespace
} // namespace sidelight
