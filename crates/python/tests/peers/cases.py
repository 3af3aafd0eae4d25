"""Real objects of other libraries, and what a certificate must say of the ε that each reports.

Each case is a dictionary: its name, the object, keyword arguments of `tacita.certify`, and the verdict, or the event
that must be refused.
"""

from __future__ import annotations

import math

DELTA = 1e-5
# A rate and a number of steps that are common for MNIST.
RATE, STEPS = 512 / 60_000, 1172


def opacus_cases():
    """Opacus' three accountants; its Gaussian one estimates."""
    from opacus.accountants import GaussianAccountant, PRVAccountant, RDPAccountant

    def after(cls, noise, rate=RATE, steps=STEPS):
        accountant = cls()
        accountant.history = [(noise, rate, steps)]
        return accountant

    yield case("opacus gdp", after(GaussianAccountant, 1.0), "false")
    yield case(
        "opacus gdp, little noise", after(GaussianAccountant, 0.6, 512 / 120_000, 703), "false"
    )
    yield case("opacus prv", after(PRVAccountant, 1.0), "consistent")
    yield case("opacus prv, small epsilon", after(PRVAccountant, 2.0, 0.01, 500), "loose")
    yield case("opacus rdp", after(RDPAccountant, 1.0), "loose")
    few = after(RDPAccountant, 0.7)
    epsilon = few.get_epsilon(DELTA, alphas=[2, 8, 32])
    yield case("opacus rdp, few orders", few, "loose", reported=epsilon)
    stepped = RDPAccountant()
    for step in range(60):
        stepped.step(noise_multiplier=2.0 - step / 60, sample_rate=0.05)
    yield case("opacus rdp, falling noise", stepped, "loose")
    yield case("opacus state", after(PRVAccountant, 1.0).state_dict(), "not-compared")
    # What save_checkpoint stores; the file itself is a pickle.
    checkpoint = {"privacy_accountant_state_dict": after(GaussianAccountant, 1.0).state_dict()}
    yield case("opacus checkpoint", checkpoint, "false", reported=1.4817)
    yield case("opacus without noise", after(RDPAccountant, 0.0), "not-private", reported=3.0)


def opacus_training_cases():
    """Short runs of Opacus' engine, with and without Poisson batches."""
    import torch
    from opacus import PrivacyEngine

    records = torch.utils.data.TensorDataset(torch.randn(100, 4), torch.randint(0, 2, (100,)))
    for poisson in (True, False):
        model = torch.nn.Linear(4, 2)
        engine = PrivacyEngine(accountant="rdp")
        model, optimizer, loader = engine.make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
            data_loader=torch.utils.data.DataLoader(records, batch_size=10, shuffle=True),
            noise_multiplier=4.0,
            max_grad_norm=1.0,
            poisson_sampling=poisson,
        )
        for _ in range(2):
            for features, labels in loader:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(features), labels).backward()
                optimizer.step()
        found = ["divisor-from-data", "noise-not-secure"]
        found += [] if poisson else ["batches-shuffled"]
        yield case(
            "opacus run" if poisson else "opacus run, shuffled",
            engine,
            "loose" if poisson else "unproved",
            found,
            loader=loader,
            optimizer=optimizer,
        )


def dp_accounting_cases():
    """Events and accountants of dp-accounting."""
    import dp_accounting
    from dp_accounting import dp_event, pld, rdp
    from dp_accounting.pld import privacy_loss_distribution

    def training(noise, rate=RATE, steps=STEPS):
        gaussian = dp_accounting.GaussianDpEvent(noise)
        sampled = dp_accounting.PoissonSampledDpEvent(rate, gaussian)
        return dp_accounting.SelfComposedDpEvent(sampled, steps)

    yield case("dp-accounting pld", pld.PLDAccountant().compose(training(1.0)), "consistent")
    # Its tail is cut off, which shows at a small δ: the exact ε is 4.42447430528…
    small = pld.PLDAccountant().compose(training(50.0, 1.0, 1000))
    yield case("dp-accounting pld, delta 1e-12", small, "false", delta=1e-12)
    coarse = pld.PLDAccountant(value_discretization_interval=1e-3).compose(
        training(8.0, 1 / 240, 20_000)
    )
    yield case("dp-accounting pld, coarse", coarse, "loose")
    yield case("dp-accounting rdp", rdp.RdpAccountant().compose(training(1.0)), "loose")
    few = rdp.RdpAccountant(orders=[2, 8, 32]).compose(training(0.7))
    yield case("dp-accounting rdp, few orders", few, "loose")
    optimistic = privacy_loss_distribution.from_gaussian_mechanism(
        1.0, sampling_prob=RATE, pessimistic_estimate=False, use_connect_dots=False
    ).self_compose(STEPS)
    epsilon = float(optimistic.get_epsilon_for_delta(DELTA))
    yield case("dp-accounting pld, optimistic", training(1.0), "false", reported=epsilon)
    special = dp_accounting.NeighboringRelation.REPLACE_SPECIAL
    zero_out = pld.PLDAccountant(special).compose(training(1.0))
    yield case("dp-accounting pld, replace special", zero_out, "consistent")
    gaussian = dp_accounting.GaussianDpEvent(10.0)
    together = dp_accounting.ComposedDpEvent([gaussian, dp_accounting.GaussianDpEvent(20.0)])
    joint = dp_accounting.PoissonSampledDpEvent(0.1, together)
    composed = dp_accounting.ComposedDpEvent([dp_accounting.NoOpDpEvent(), joint, gaussian])
    yield case("dp-accounting joint queries", rdp.RdpAccountant().compose(composed, 20), "loose")
    replace = dp_accounting.NeighboringRelation.REPLACE_ONE
    fixed = dp_event.SampledWithoutReplacementDpEvent(
        60_000, 512, dp_accounting.GaussianDpEvent(1.0)
    )
    accountant = rdp.RdpAccountant(neighboring_relation=replace).compose(fixed, STEPS)
    yield case("dp-accounting fixed-size", accountant, "loose", ["replace-one"])
    for mean, shape, name in [(10, 1, "geometric"), (10, math.inf, "poisson")]:
        best = dp_event.RepeatAndSelectDpEvent(training(2.0), mean, shape)
        searched = rdp.RdpAccountant().compose(best)
        yield case(f"dp-accounting best of {name}", searched, "consistent")
    yield case("dp-accounting non-private", dp_accounting.NonPrivateDpEvent(), "not-private")
    for event in [
        dp_accounting.LaplaceDpEvent(2.0),
        dp_event.SingleEpochTreeAggregationDpEvent(2.0, [10]),
        dp_accounting.UnsupportedDpEvent(),
        dp_event.SampledWithReplacementDpEvent(100, 10, gaussian),
        dp_event.MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0], [0.9, 0.1]),
        dp_event.TruncatedSubsampledGaussianDpEvent(1000, 0.1, 120, 2.0),
    ]:
        yield refusal(f"dp-accounting {type(event).__name__}", event, type(event).__name__)
    nested = dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.LaplaceDpEvent(2.0))
    yield refusal("dp-accounting sampled Laplace", nested, "LaplaceDpEvent")


def jax_privacy_cases():
    """Parameters, plans and configurations of JAX Privacy."""
    from jax_privacy import accounting
    from jax_privacy.experimental import accounting as events

    accountant = accounting.DpsgdTrainingAccountant(accounting.PldAccountantConfig())

    def of(params, verdict, name, found=()):
        epsilon = accountant.compute_epsilon(STEPS, params)
        return case(name, params, verdict, found, delta=None, reported=epsilon, steps=STEPS)

    size = {"num_samples": 60_000, "batch_size": 512, "delta": DELTA}
    uniform = accounting.DpParams(noise_multipliers=1.0, **size)
    yield of(uniform, "consistent", "jax-privacy parameters")
    changing = accounting.DpParams(noise_multipliers=[(0, 2.0), (500, 1.0)], **size)
    yield of(changing, "consistent", "jax-privacy noise that changes")
    fixed = accounting.SamplingMethod.FIXED_BATCH_SIZE
    batches = accounting.DpParams(noise_multipliers=2.0, sampling_method=fixed, **size)
    yield of(batches, "unproved", "jax-privacy fixed batch size", ["replace-one"])
    users = accounting.DpParams(noise_multipliers=2.0, examples_per_user=3, **size)
    user_level = accounting.DpsgdTrainingUserLevelAccountant(accounting.PldAccountantConfig())
    epsilon = user_level.compute_epsilon(STEPS, users)
    options = {"delta": None, "reported": epsilon, "steps": STEPS}
    yield case("jax-privacy users", users, "consistent", **options)
    cut = accounting.DpParams(noise_multipliers=1.0, truncated_batch_size=600, **size)
    refused = "TruncatedSubsampledGaussianDpEvent"
    yield refusal("jax-privacy truncated", cut, refused, delta=None, steps=STEPS)
    event = events.dpsgd_event(1.0, STEPS, sampling_prob=RATE)
    yield case("jax-privacy event", event, "not-compared")


def jax_keras_cases():
    """JAX Privacy's Keras interface, which does not sample by default."""
    from jax_privacy import keras_api

    for poisson in (True, False):
        config = keras_api.DPKerasConfig(
            epsilon=2.0,
            delta=DELTA,
            clipping_norm=1.0,
            batch_size=512,
            gradient_accumulation_steps=1,
            train_steps=STEPS,
            train_size=60_000,
            poisson_sampling_in_fit=poisson,
            noise_multiplier=0.95,
        )
        found = [] if poisson else ["batches-unknown"]
        name = "jax-privacy keras" if poisson else "jax-privacy keras, no sampling"
        yield case(name, config, "loose", found, delta=None)


def flower_cases():
    """Flower's accountant of clients."""
    from flwr.supercore.privacy_accounting import (
        GaussianPrivacyEvent,
        NeighboringRelation,
        PrivacyConfig,
        SamplingMethod,
    )
    from flwr.supercore.privacy_accounting.rdp_accountant import RdpAccountant

    for method, relation, verdict in [
        (SamplingMethod.NO_AMPLIFICATION, NeighboringRelation.ADD_OR_REMOVE_ONE, "loose"),
        (SamplingMethod.POISSON, NeighboringRelation.ADD_OR_REMOVE_ONE, "loose"),
        (SamplingMethod.WITHOUT_REPLACEMENT, NeighboringRelation.REPLACE_ONE, "loose"),
    ]:
        accountant = RdpAccountant(PrivacyConfig(DELTA, 10_000, relation, method))
        accountant.compose(GaussianPrivacyEvent(5.0, 500, 10_000), count=30)
        yield case(f"flower {method.value}", accountant, verdict)
    yield case("flower state", accountant.state_dict(), "not-compared", delta=None)


#: The libraries, what makes their cases, and the modules that must be there.
LIBRARIES = {
    "opacus": (opacus_cases, ["opacus"]),
    "opacus-training": (opacus_training_cases, ["opacus"]),
    "dp-accounting": (dp_accounting_cases, ["dp_accounting"]),
    "jax-privacy": (jax_privacy_cases, ["jax_privacy"]),
    "jax-privacy-keras": (jax_keras_cases, ["jax_privacy", "keras"]),
    "flower": (flower_cases, ["flwr", "dp_accounting"]),
}


def case(name, run, verdict, found=(), delta=DELTA, **options):
    return {
        "name": name,
        "run": run,
        "options": {"delta": delta, **options},
        "verdict": verdict,
        "found": list(found),
    }


def refusal(name, run, event, **options):
    return {"name": name, "run": run, "options": {"delta": DELTA, **options}, "refused": event}
