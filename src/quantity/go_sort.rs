//! The order of a list after Go's `sort.Slice` with a comparison that is not an order.
//!
//! A contradictory comparison has no sorted order, only the result of an algorithm.
//! Where an operator sorts by such a comparison, its algorithm is part of the answer: this is
//! `pdqsort_func` of Go 1.19 and later (`src/sort/zsortfunc.go`), function by function.

/// Sorts as `sort.Slice` does; `less` must not panic and may contradict itself.
pub(crate) fn go_sort<T>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let limit = bits(items.len());
    let length = items.len();
    Slice { items, less }.pdqsort(0, length, limit);
}

/// Lists up to this length are sorted by insertion.
const MOST_INSERTED: usize = 12;
/// From this length on the pivot is the median of nine, and shifting pays.
const LONG: usize = 50;
/// Most pairs out of order that a partial insertion sort repairs.
const MOST_SHIFTS: usize = 5;
/// Exchanges of a median of nine that found everything the wrong way round.
const MOST_SWAPS: usize = 12;

/// The number of bits of a length.
fn bits(length: usize) -> u32 {
    usize::BITS - length.leading_zeros()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Hint {
    Unknown,
    Increasing,
    Decreasing,
}

struct Slice<'a, T, L> {
    items: &'a mut [T],
    less: L,
}

impl<T, L: Fn(&T, &T) -> bool> Slice<'_, T, L> {
    fn less(&self, left: usize, right: usize) -> bool {
        (self.less)(&self.items[left], &self.items[right])
    }

    fn swap(&mut self, left: usize, right: usize) {
        self.items.swap(left, right);
    }

    fn pdqsort(&mut self, mut from: usize, mut to: usize, mut limit: u32) {
        let (mut balanced, mut partitioned) = (true, true);
        loop {
            let length = to - from;
            if length <= MOST_INSERTED {
                return self.insertion_sort(from, to);
            }
            // Too many bad pivots: heap sort keeps n log n in the worst case.
            if limit == 0 {
                return self.heap_sort(from, to);
            }
            // Some elements are moved away, so that a pattern in the input spoils no further pivot.
            if !balanced {
                self.break_patterns(from, to);
                limit -= 1;
            }
            let (mut pivot, mut hint) = self.choose_pivot(from, to);
            // A list that seems to fall is turned round: it is then sorted by few exchanges.
            if hint == Hint::Decreasing {
                self.items[from..to].reverse();
                pivot = (to - 1) - (pivot - from);
                hint = Hint::Increasing;
            }
            if balanced
                && partitioned
                && hint == Hint::Increasing
                && self.partial_insertion_sort(from, to)
            {
                return;
            }
            // The element before is the last pivot: nothing here is less, so equals need no further
            // sorting.
            if from > 0 && !self.less(from - 1, pivot) {
                from = self.partition_equal(from, to, pivot);
                continue;
            }
            let (middle, already) = self.partition(from, to, pivot);
            partitioned = already;
            let (left, right) = (middle - from, to - middle);
            balanced = left.min(right) >= length / 8;
            // Recursion into the shorter side keeps the stack at log n; the longer one is the next
            // round.
            if left < right {
                self.pdqsort(from, middle, limit);
                from = middle + 1;
            } else {
                self.pdqsort(middle + 1, to, limit);
                to = middle;
            }
        }
    }

    fn insertion_sort(&mut self, from: usize, to: usize) {
        for end in from + 1..to {
            let mut index = end;
            while index > from && self.less(index, index - 1) {
                self.swap(index, index - 1);
                index -= 1;
            }
        }
    }

    fn sift_down(&mut self, low: usize, high: usize, first: usize) {
        let mut root = low;
        loop {
            let mut child = 2 * root + 1;
            if child >= high {
                return;
            }
            if child + 1 < high && self.less(first + child, first + child + 1) {
                child += 1;
            }
            if !self.less(first + root, first + child) {
                return;
            }
            self.swap(first + root, first + child);
            root = child;
        }
    }

    fn heap_sort(&mut self, from: usize, to: usize) {
        let high = to - from;
        for low in (0..=(high - 1) / 2).rev() {
            self.sift_down(low, high, from);
        }
        for end in (0..high).rev() {
            self.swap(from, from + end);
            self.sift_down(0, end, from);
        }
    }

    /// The final position of the pivot, and whether all elements were on their side already.
    fn partition(&mut self, from: usize, to: usize, pivot: usize) -> (usize, bool) {
        self.swap(from, pivot);
        // Both are inclusive; `right` is never below `from`, the index of the pivot.
        let (mut left, mut right) = (from + 1, to - 1);
        let mut already = true;
        loop {
            while left <= right && self.less(left, from) {
                left += 1;
            }
            while left <= right && !self.less(right, from) {
                right -= 1;
            }
            if left > right {
                break;
            }
            already = false;
            self.swap(left, right);
            left += 1;
            right -= 1;
        }
        self.swap(right, from);
        (right, already)
    }

    fn partition_equal(&mut self, from: usize, to: usize, pivot: usize) -> usize {
        self.swap(from, pivot);
        let (mut left, mut right) = (from + 1, to - 1);
        loop {
            while left <= right && !self.less(from, left) {
                left += 1;
            }
            while left <= right && self.less(from, right) {
                right -= 1;
            }
            if left > right {
                return left;
            }
            self.swap(left, right);
            left += 1;
            right -= 1;
        }
    }

    /// Repairs a few pairs out of order; whether the range is sorted now.
    fn partial_insertion_sort(&mut self, from: usize, to: usize) -> bool {
        let mut index = from + 1;
        for _ in 0..MOST_SHIFTS {
            while index < to && !self.less(index, index - 1) {
                index += 1;
            }
            if index == to {
                return true;
            }
            if to - from < LONG {
                return false;
            }
            self.swap(index, index - 1);
            if index - from >= 2 {
                // As upstream, down to the start of the list and not of the range.
                for place in (1..index).rev() {
                    if !self.less(place, place - 1) {
                        break;
                    }
                    self.swap(place, place - 1);
                }
            }
            if to - index >= 2 {
                for place in index + 1..to {
                    if !self.less(place, place - 1) {
                        break;
                    }
                    self.swap(place, place - 1);
                }
            }
        }
        false
    }

    fn break_patterns(&mut self, from: usize, to: usize) {
        let length = to - from;
        if length < 8 {
            return;
        }
        let mut random = length as u64;
        let modulus = 1_u64 << bits(length);
        let middle = from + (length / 4) * 2;
        for index in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Below twice the length.
            let mut other = usize::try_from(random & (modulus - 1)).unwrap_or_default();
            if other >= length {
                other -= length;
            }
            self.swap(index, from + other);
        }
    }

    fn choose_pivot(&self, from: usize, to: usize) -> (usize, Hint) {
        let length = to - from;
        let quarter = |count: usize| from + length / 4 * count;
        let (mut low, mut middle, mut high) = (quarter(1), quarter(2), quarter(3));
        let mut swaps = 0;
        if length >= 8 {
            if length >= LONG {
                low = self.median(low - 1, low, low + 1, &mut swaps);
                middle = self.median(middle - 1, middle, middle + 1, &mut swaps);
                high = self.median(high - 1, high, high + 1, &mut swaps);
            }
            middle = self.median(low, middle, high, &mut swaps);
        }
        let hint = match swaps {
            0 => Hint::Increasing,
            MOST_SWAPS => Hint::Decreasing,
            _ => Hint::Unknown,
        };
        (middle, hint)
    }

    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut usize) -> usize {
        let mut order = |low: usize, high: usize| {
            if self.less(high, low) {
                *swaps += 1;
                (high, low)
            } else {
                (low, high)
            }
        };
        let (a, b) = order(a, b);
        let (b, _) = order(b, c);
        order(a, b).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lists of the recording: `length` numbers, sorted by a comparison of `kind`.
    fn sorted(length: u64, kind: u64) -> Vec<u64> {
        let mut items: Vec<u64> =
            (0..length).map(|index| (index * 7919 + kind * 104_729) % 1009).collect();
        go_sort(&mut items, |left, right| match kind {
            // An order.
            0 => left < right,
            // An order the other way round.
            1 => left > right,
            // Never less.
            2 => false,
            // Always less.
            3 => true,
            // Near ones count as equal.
            4 => left + 100 < *right,
            // A circle.
            _ => (left * 31 + right * 17) % 5 < 2,
        });
        items
    }

    #[test]
    fn unstable_sort_results_match_go() {
        for (length, kind, hash) in RECORDED {
            let found = sorted(*length, *kind)
                .iter()
                .fold(0_u64, |hash, item| hash.wrapping_mul(1_000_003).wrapping_add(*item));
            assert_eq!(found % 9973, *hash, "{length} numbers, comparison {kind}");
        }
    }

    /// Length, comparison and hash (modulo 9973) of the list after `sort.Slice` of Go 1.26.
    #[rustfmt::skip]
    const RECORDED: &[(u64, u64, u64)] = &[
        (0, 0, 0), (0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 0), (0, 5, 0),
        (1, 0, 0), (1, 1, 802), (1, 2, 595), (1, 3, 388), (1, 4, 181), (1, 5, 983),
        (5, 0, 6750), (5, 1, 4447), (5, 2, 2911), (5, 3, 5159), (5, 4, 6689), (5, 5, 3270),
        (12, 0, 7054), (12, 1, 4740), (12, 2, 2792), (12, 3, 3962), (12, 4, 6663), (12, 5, 5912),
        (13, 0, 2885), (13, 1, 2072), (13, 2, 9670), (13, 3, 4306), (13, 4, 8523), (13, 5, 6003),
        (20, 0, 6287), (20, 1, 7657), (20, 2, 7677), (20, 3, 522), (20, 4, 7237), (20, 5, 4250),
        (49, 0, 1755), (49, 1, 720), (49, 2, 1134), (49, 3, 6338), (49, 4, 4849), (49, 5, 9162),
        (50, 0, 8443), (50, 1, 9542), (50, 2, 2317), (50, 3, 5767), (50, 4, 8300), (50, 5, 1804),
        (60, 0, 7094), (60, 1, 2117), (60, 2, 17), (60, 3, 4896), (60, 4, 5649), (60, 5, 2968),
        (200, 0, 9841), (200, 1, 6711), (200, 2, 6475), (200, 3, 2632), (200, 4, 3651), (200, 5, 3781),
        (1000, 0, 9791), (1000, 1, 6703), (1000, 2, 2211), (1000, 3, 4414), (1000, 4, 3611), (1000, 5, 6805),
    ];
}
