"""What a run prints at its end."""

ORDER = ["ledgers", "rounds in WAL mode", "rounds in rollback mode", "kills", "backends killed", "backends terminated",
         "servers stopped", "append", "batch", "events", "delete", "old", "init", "read", "undone", "alone",
         "transaction", "open when killed", "open, found done", "open, found undone"]
WORDS = {"append": "acknowledged appends", "batch": "acknowledged batches", "events": "acknowledged events in all",
         "delete": "acknowledged deletions", "init": "acknowledged migrations", "old": "acknowledged inserts as by 0.2",
         "read": "replays between", "undone": "savepoints rolled back", "alone": "acknowledged calls by themselves",
         "transaction": "acknowledged transactions",
         "open when killed": "under way when killed", "open, found done": "  of them found whole",
         "open, found undone": "  of them found not at all"}


def passed(figures, rounds):
    print("%8d rounds" % rounds)
    for key in ORDER + sorted(figures.keys() - set(ORDER)):
        if figures[key]:
            print("%8d %s" % (figures[key], WORDS.get(key, key)))
    print("       0 lost, 0 twice, 0 in part, 0 ids given again")


def failed(number, faults, folder):
    print("round %d: %d faults; the files are in %s" % (number, len(faults), folder))
    for kind, text in faults[:20]:
        print("  %s: %s" % (kind, text))
    return 1
