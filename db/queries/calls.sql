-- calls
-- Functions of db/functions that are run as they are, each by a statement of its name (db/load.ts).
claim_cases(:court, :jurors, :tokens) :moves
case_reasons(:court, :juror) -- not null: no_votes_left, voted, party, skipped, open, gold
explain_case(:id, :court, :juror) -- not null: why, ahead
cast_votes(:votes::jsonb) :moves -- not null: id, outcome, counted
leave_case(:id, :token, :subject?, :how) as "outcome!" :moves
renew_hold(:id, :token, :subject?) :moves
change_case(:id, :change::json, :actor) as "changed!" :moves
invite_jurors(:id, :tokens) as "n!" :moves
close_cases(:ids, :reason, :actor, :winner?) as "id!" :moves
delete_court(:name, :actor) :moves -- not null: outcome
lock_jurors(:court, true)
free_jurors(:court, :persons?)
invite_freed(:seq, :token) as id :moves
end_barred_holds(:court, :persons?) as "id!" :moves
rejudge_cases(:court, :found::jsonb, :settingsVersion) as id :moves
add_erasure(:id, :kind, :itemId, :reason, :actor)
erasure_step() :moves
forget_names()
number_events(:limit) -- not null: numbered, newest
dispute_ticket(:id, :person, :reason) :moves :unseen
refuse_lease(:kind, :id, :token, :attempt) :moves :unseen
leave_note(:kind, :id, :actor, :text) :moves :unseen
pop_to_push(:topic, :tokens, :limit) :moves
begin_runs(:jobs::json) :moves
has_begun_since(:id, :version) as "has!"
tend_words(:on, :limit) as more
delete_queue(:kind, :name) as "outcome!"
put_back(:limit, :most) -- not null: stage
forget_runs(:ids::text[]::bigint[]) as "n!"
forget_items(:kind, :ids, :seqs?::integer[]) as "n!" :moves :unseen
forget_reviews(:ids, :seqs?::integer[]) as "n!"
forget_tasks(:ids, :seqs?::integer[]) as "n!" :moves :unseen
apply_review(:id, :limit)
put_review(:id, :targets::jsonb, :body::json, :callback?::jsonb, :actor) :moves -- not null: created, now
review_record(:id, :seq::bigint) as "record!"
next_change(:id) as n
tick(:limit) :moves
tick_items(:kind, :ids) :moves
refresh_statistics()
sample_queues(:limit) as "n!"
-- suggestions
change_template(:id, :name?, :params?::json)
delete_template(:id) as "outcome!"
is_zone(:name) as "known!"
cancel_occurrence(:id, :reason, :actor) :moves
explain_task(:id, :person) -- not null: why, ahead
